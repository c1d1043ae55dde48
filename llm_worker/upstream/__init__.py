"""Model servers: asking them, and reading what they send."""
