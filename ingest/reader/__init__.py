"""Reads one file in a process of its own: `python -m ingest.reader CONTENT_TYPE FOLDER` (ingest/child.py).

The libraries that parse untrusted files are imported here alone, each only for its own type. No settings, no network.
"""
