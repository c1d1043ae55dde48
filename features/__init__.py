"""What people name, each in one folder: a Django app with its rules, routes, admin pages and part of the page."""
