"""What is recorded of a run besides its answer: its requests, how they fill the window, and what the estimate of tokens was off by.

Nothing here delays or fails an answer.
"""
