"""What admins see. Django looks for it here."""

from chat.admin import agents, compressions, conversations, runs, sent_requests, sessions, shares, tool_calls

__all__ = [
    "agents",
    "compressions",
    "conversations",
    "runs",
    "sent_requests",
    "sessions",
    "shares",
    "tool_calls",
]
