"""Use cases of whole sessions: change settings, delete, export and import.

Does not check who may access a session (web does); turns are started in chat/turns.
"""
