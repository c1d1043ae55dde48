"""What admins see. Django looks for it here."""

from chat.admin import conversations, runs

__all__ = ["conversations", "runs"]
