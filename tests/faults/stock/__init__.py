"""A conventional design for comparison: a Celery task that sends each token to a Channels group.

It uses no code of Turnwire. test_stock.py records how it behaves under faults.
"""
