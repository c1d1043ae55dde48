"""Management commands that concern the engine and features. They call use cases and contain no rules of their own."""
