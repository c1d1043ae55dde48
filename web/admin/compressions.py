"""The admin of compressions: the coverage, savings and cost of each, and actions to repeat it or delete its summary."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.compressions import requests as compression_requests
from chat.models import ChatMessage, Compression, CompressionStatus, Session, TriggeredBy
from web.admin.actions import RowAction, apply_and_log
from web.admin.model_requests import SideRequestInline
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline, or_dash
from web.admin.search import ModelFilter

# The compression rate is given per this many turns; a window with a large reserved share has a high rate.
TURNS_PER_RATE: Final = 20
SHOWN = ("saved", "reserved_share", "covered_messages", "summary_text")


class CompressionInline(ReadOnlyInline):
    """The compressions of a row, newest first."""

    model = Compression
    fields = (
        "status", "triggered_by", "model", "tokens_before", "tokens_after", "cost", "error_code",
    )  # fmt: skip


class SummaryCompressionInline(CompressionInline):
    """The compression that created a summary."""

    fk_name = "summary"
    verbose_name_plural = _("made by")


@admin.register(Compression)
class CompressionAdmin(ReadOnlyAdmin[Compression]):
    list_display = (
        "short_id", "status", "triggered_by", "model", "tokens_before", "tokens_after", "saved", "reserved_share",
        "cost", "error_code", "created_at",
    )  # fmt: skip
    list_filter = ("status", "triggered_by", ModelFilter, "created_at")
    search_fields = ("id", "request_id", "session__id", "session__owner__username", "error_code")
    actions = ("run_again", "delete_summary")
    inlines = (SideRequestInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Compression | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), *SHOWN]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return the permission that Django checks for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_compression")

    @admin.action(description=_("Compress the branch again"), permissions=["operate"])
    def run_again(self, request: HttpRequest, chosen: QuerySet[Compression]) -> None:
        self._apply(request, chosen, _("Compress again"), _request_again)

    @admin.action(description=_("Delete the summary"), permissions=["operate"])
    def delete_summary(self, request: HttpRequest, chosen: QuerySet[Compression]) -> None:
        self._apply(request, chosen, _("Delete the summary"), _delete_summary)

    @admin.display(description=_("saved tokens"))
    def saved(self, compression: Compression) -> object:
        return or_dash(compression.saved_tokens)

    @admin.display(description=_("reserved share of the window"))
    def reserved_share(self, compression: Compression) -> str:
        reserved, history = compression.reserved_tokens, compression.history_window
        if reserved is None or history is None or not reserved + history:
            return "-"
        return f"{reserved / (reserved + history):.0%}"

    @admin.display(description=_("covered messages"))
    def covered_messages(self, compression: Compression) -> object:
        return or_dash(count_covered_messages(compression.summary) if compression.summary else None)

    @admin.display(description=_("text"))
    def summary_text(self, compression: Compression) -> str:
        return compression.summary.text if compression.summary else ""

    def _apply(
        self,
        request: HttpRequest,
        chosen: QuerySet[Compression],
        verb: object,
        act: RowAction[Compression],
    ) -> None:
        apply_and_log(
            self, request, chosen.select_related("leaf__parent", "model_config", "summary"), verb, act
        )


def count_covered_messages(summary: ChatMessage) -> int | None:
    """Return how many messages the summary replaces; None if the message is not a summary."""
    cutoff: Any = summary.last_summarized_message_id
    return ChatMessage.objects.branch_to(cutoff).replies().count() if cutoff else None


def compressions_per_turns(session: Session) -> float | None:
    """Return the finished compressions per TURNS_PER_RATE turns; None without turns."""
    turns = session.turns.count()
    done = session.compressions.filter(status=CompressionStatus.DONE).count()
    return round(TURNS_PER_RATE * done / turns, 1) if turns else None


def _request_again(compression: Compression) -> object:
    if compression.model_config is None:
        return _("its model is not configured any more")
    if compression.session.deleted_at:
        return _("nothing to compress, or it is under way")
    is_requested = compression_requests.request_compression(
        compression.leaf, compression.model_config, triggered_by=TriggeredBy.STAFF
    )
    return _("queued") if is_requested else _("one is under way")


def _delete_summary(compression: Compression) -> object:
    """Delete the summary; the messages it covered are sent again until the next compression."""
    if compression.summary is None:
        return _("there is none")
    compression_requests.delete_summary(compression.summary)
    return _("deleted")
