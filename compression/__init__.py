"""Replaces the older part of long histories, as models see it, by a summary written in the background.

Deletes no messages, and no answer waits for it.
"""
