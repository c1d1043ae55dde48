"""Produces what a run leaves besides its answer: titles, the log of requests, and whether to compress its history.

Nothing here delays or fails an answer.
"""
