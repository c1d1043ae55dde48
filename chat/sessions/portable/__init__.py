"""Sessions as files: written whole, read back strictly, or written for people. The format is format.py."""
