"""Management commands of config."""
