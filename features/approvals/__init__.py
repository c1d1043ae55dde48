"""Approvals: users decide about tool calls that wait for them, and staff which do. Runs wait and go on in chat/turns/approvals.py."""
