"""What admins see. Django looks for it here."""

from django.contrib import admin

from chat.models import CitedDocument, PromptBlock
from web.admin import agents, compressions, conversations, runs, sent_requests, sessions, shares, tool_calls
from web.admin.translations import translate

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
