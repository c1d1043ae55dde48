"""The usual way to stream from a Celery worker, for comparison: one task that sends each token to a Channels group.

Nothing of Turnwire is in it. What it does when things break is told by test_stock.py.
"""
