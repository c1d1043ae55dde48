"""The admin of requests for titles and summaries: the request, the response, and the tokens used."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Compression, Run, Session, SideRequest
from chat.models.model_requests import Purpose
from web.admin.filters import ModelFilter
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from web.admin.search import SearchAdmin
from web.admin.sent_requests import present_messages

TEXTS = ("messages", "reply")


class SideRequestInline(ReadOnlyInline):
    """The requests of a row, with links to their texts."""

    model = SideRequest
    fields = (
        "purpose", "attempt", "number", "model", "sent_at", "prompt_tokens", "completion_tokens",
        "estimated_tokens", "cost", "error_code",
    )  # fmt: skip
    verbose_name_plural = _("requests for titles and summaries")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).defer(*TEXTS)


class RunSideRequestInline(SideRequestInline):
    """The requests for titles and safe summaries. Requests for summaries are on the pages of their compressions."""

    verbose_name_plural = _("requests for titles and safe summaries")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).exclude(purpose=Purpose.SUMMARY)


@admin.register(SideRequest)
class SideRequestAdmin(SearchAdmin[SideRequest], ReadOnlyAdmin[SideRequest]):
    """The admin of side requests. Texts are stored for KEEP_REQUESTS_HOURS, other columns as long as the session."""

    list_display = (
        "short_id", "purpose", "model", "sent_at", "prompt_tokens", "completion_tokens",
        "estimated_tokens", "cost", "error_code", "session",
    )  # fmt: skip
    list_select_related = ("session",)
    list_filter = ("purpose", ModelFilter, "sent_at")
    ordering = ("-sent_at",)
    owner_field = "session__owner"
    related_ids = (
        (Run, "side_requests"),
        (Compression, "side_requests"),
        (Session, "side_requests"),
    )
    search_help_text = _("A user's name, the id of a run, of its session or of a compression.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).defer(*TEXTS)

    def get_readonly_fields(self, request: HttpRequest, obj: SideRequest | None = None) -> list[str]:
        return [name for name in super().get_readonly_fields(request, obj) if name not in TEXTS]

    def page_context(self, request: HttpRequest, row: SideRequest) -> dict[str, Any]:
        kept = row.messages
        return super().page_context(request, row) | {
            "sent": row,
            "parts": None if kept is None else present_messages((one, None) for one in kept),
        }
