"""Webhooks: a user's program is told by an HTTP request that an answer has ended, or asks for approvals, as Standard Webhooks describes it."""
