"""The websocket, which parses commands, subscribes sockets to session channels, and writes frames.

It changes no rows itself: commands that do call the same use cases as the REST API (handlers.py).
"""
