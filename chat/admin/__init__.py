"""What admins see. Django looks for it here."""

from chat.admin import agents, conversations, runs, sent_requests, tool_calls

__all__ = ["agents", "conversations", "runs", "sent_requests", "tool_calls"]
