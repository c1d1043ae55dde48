"""Rows as the JSON objects that clients receive, one `present_…` function per kind.

Does not write, and does not know requests or sockets.
"""
