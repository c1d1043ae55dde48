"""What other processes and clients can see: packets, states, error codes, task names, strict JSON. Pure.

It does no I/O and imports neither Django nor other parts of chat.
"""
