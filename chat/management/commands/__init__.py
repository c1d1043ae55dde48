"""Management commands. They call use cases and contain no rules of their own."""
