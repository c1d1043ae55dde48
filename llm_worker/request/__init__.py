"""Builds the messages of one request to a model within its token budget. Pure.

Reads no rows, sends nothing and does not know the model server.
"""
