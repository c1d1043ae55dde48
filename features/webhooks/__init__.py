"""Webhooks: a user's program is told by an HTTP request that an answer has ended, as Standard Webhooks describes it."""
