"""Database writes of one attempt, fenced by its number: checkpoints, its end, or the release of its run.

Decides nothing about when to write: lease/checkpointer.py and attempt.py do.
"""
