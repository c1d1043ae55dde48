"""Requests to models beside the answers: titles, safe summaries and rewritten queries.

Each is stored with the tokens it used (recording.py). A restricted run sees nothing of its knowledge bases but an
artifact of a secondary model, checked for echoes (decision 0115); the modules for artifacts and echoes are pure.
"""
