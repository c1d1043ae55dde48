"""chat remembers: sessions, the message tree, turns and runs, and the packet log.

It never imports llm_worker: it reaches workers by named Celery messages (chat/protocol/tasks.py).
"""
