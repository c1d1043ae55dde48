"""Use cases of turns: start one, answer a message again, select a branch, withdraw a waiting question.

Does not check who may access a session (web does), and does not stop runs (chat/runs/cancellation.py).
"""
