"""Reproducible benchmarks of the relay path; see README.md. Not tests: nothing here decides whether a change is right."""
