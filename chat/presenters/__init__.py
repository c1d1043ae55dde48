"""Rows as the answers that clients receive: one Struct per answer (answer.py), and one `present_…` function per kind.

Does not write, and does not know requests or sockets.
"""
