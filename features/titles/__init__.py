"""Titles that a model gives to the sessions that their owners have not named."""
