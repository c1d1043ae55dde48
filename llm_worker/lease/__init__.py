"""Keeps this process the owner of its runs: liveness lock, heartbeat, periodic checkpoints and drain.

Works on all attempts of the process; does not know what an attempt does.
"""
