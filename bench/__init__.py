"""Benchmarks of the token path, described in README.md. They measure; they do not test correctness."""
