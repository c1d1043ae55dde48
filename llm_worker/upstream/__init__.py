"""Sends requests to model servers and parses what they return.

Knows nothing of runs, rows and packets.
"""
