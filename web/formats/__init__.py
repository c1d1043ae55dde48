"""Times as the admin writes them, whatever its language: short, sortable, to the second."""
