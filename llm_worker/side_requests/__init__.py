"""Requests to models beside the answers: titles, safe summaries and rewritten queries. Each is stored with what it used (recording.py).

What a restricted run may see of its knowledge bases is pure: an artifact of a secondary model, checked for echoes (decision 0117).
"""
