"""The REST API. Views translate; decisions are in chat/turns.py and the models."""
