"""Shortens what models are sent of long histories. Deletes nothing, and no answer waits for it."""
