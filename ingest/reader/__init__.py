"""Reads one file in a process of its own: `python -m ingest.reader CONTENT_TYPE FOLDER` (ingest/child.py).

Only this package imports the libraries that parse untrusted files, each only for its own type. It uses no settings and
no network.
"""
