"""Management commands of chat."""
