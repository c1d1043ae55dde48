"""The command setup_link. Commands call use cases and contain no rules of their own."""
