"""The records of a run besides its answer: its requests, how they fill the window, and the error of token estimates.

Nothing here delays or fails an answer.
"""
