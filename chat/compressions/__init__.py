"""Requests for compressions of long branches, their recorded ends, and the summaries in the message tree.

Does not decide whether a branch is too long, and does not ask a model: the compression app does both.
"""
