"""What admins see. Django looks for it here."""

from django.contrib import admin

from chat.admin import agents, compressions, conversations, runs, sent_requests, sessions, shares, tool_calls
from chat.admin.names import translate
from chat.models import CitedDocument, PromptBlock

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

# All that has a page or stands in one.
translate(*admin.site._registry, CitedDocument, PromptBlock)  # noqa: SLF001
