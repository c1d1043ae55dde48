"""The sweeper: finds runs, compressions and events that a crash left unfinished, and repairs or requeues them.

Does not execute runs, and does not depend on the queue it repairs: everything is found in Postgres.
"""
