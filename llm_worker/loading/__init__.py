"""Loads from the database what a run's loop works on: its claim, branch, project and earlier progress.

Calls no model and publishes nothing.
"""
