"""chat remembers: sessions, the message tree, turns and runs, the packet log, and how clients reach them.

It never imports llm_worker: what it wants from a worker is a named Celery message (chat/protocol/wire.py).
"""
