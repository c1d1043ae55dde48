"""Loads rows as the values of chat/transcript, for workers and replays.

Does not present them to clients (chat/presenters) and does not change rows.
"""
