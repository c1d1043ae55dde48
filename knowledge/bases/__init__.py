"""The knowledge bases of a turn: which it may search, and what the model is told of them."""
