"""Loads the input of a run's loop from the database: its claim, branch, project and earlier progress.

Calls no model and publishes nothing.
"""
