"""Parses what a model streams: reasoning, tool calls, citations. Pure: no I/O, no rows, no packets."""
