"""What admins see of the requests that were sent to models: a row per cycle under the run, and each as a whole."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.admin.reading import Rows, ToRead
from chat.models import SentRequest


class SentRequestRows(Rows):
    model = SentRequest
    fields = ("attempt", "cycle", "tool_call", "tokens", "prefix_share", "sent_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("messages")


@admin.register(SentRequest)
class SentRequestAdmin(ToRead[SentRequest]):
    """Kept for KEEP_REQUESTS_HOURS."""

    list_display = ("id", "run", "attempt", "cycle", "tool_call", "tokens", "prefix_share", "sent_at")
    list_select_related = ("run", "tool_call")
    list_filter = ("run__model", "sent_at")
    search_fields = ("=run__id", "run__turn__session__owner__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SentRequest]:
        return super().get_queryset(request).defer("messages")

    def get_readonly_fields(self, request: HttpRequest, obj: SentRequest | None = None) -> list[str]:
        shown = [name for name in super().get_readonly_fields(request, obj) if name != "messages"]
        return [*shown, "all_messages"]

    @admin.display(description="messages")
    def all_messages(self, sent: SentRequest) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(sent.whole(), indent=1, ensure_ascii=False))
