"""Management commands of web."""
