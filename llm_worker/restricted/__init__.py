"""What a restricted run may see of its knowledge bases: an artifact of a secondary model, checked for echoes. Pure.

Decision 0117.
"""
