"""Time formats of the admin, in every language: short, sortable, to the second."""
