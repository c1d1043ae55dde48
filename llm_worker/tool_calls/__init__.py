"""A round of tool calls, from what the model asked to what is stored."""
