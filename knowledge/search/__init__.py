"""Searches by words and by vectors, and the index that they need: chunks and embeddings."""
