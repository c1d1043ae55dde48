"""Metrics for operators: counted in every process, summed in Redis, served by any web process at /metrics.

No code bases a decision on them.
"""
