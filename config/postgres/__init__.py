"""The database backend of this project: Django's, with a pool that recovers at once."""
