"""One attempt at a run, from claim to end: the worker's process, its lease, fenced writes, checkpoints, stored rounds.

Every write is fenced by the attempt's number (fenced_writes.py). Heartbeat, checkpointer and drain work on all attempts
of the process and do not know what an attempt does.
"""
