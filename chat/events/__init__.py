"""Session-wide events: recorded with the change they report, published to sockets after the commit.

Packets of a run are not events: they belong to chat/log.
"""
