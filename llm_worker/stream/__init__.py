"""What a model's stream means: calls, thinking, citations. Pure."""
