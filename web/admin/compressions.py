"""What admins see of compressions: what each summary covers and saves, what it cost; and what they can do about one."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.compressions import requests as compression_requests
from chat.models import ChatMessage, Compression, CompressionStatus, Session, TriggeredBy
from web.admin.action_log import Act, do_each
from web.admin.filters import ByModel
from web.admin.read_only import Rows, ToRead, dash

# Compressions are told per this many turns: a large reserved share shows as many of them.
TURNS: Final = 20
SHOWN = ("saved", "reserved_share", "covered_messages", "summary_text")


class CompressionRows(Rows):
    """Of a session, newest first; or the one that made a summary."""

    model = Compression
    fields = (
        "status", "triggered_by", "model", "tokens_before", "tokens_after", "cost", "probe_score", "error_code",
    )  # fmt: skip


class MadeBy(CompressionRows):
    fk_name = "summary"
    verbose_name_plural = _("made by")


@admin.register(Compression)
class CompressionAdmin(ToRead[Compression]):
    list_display = (
        "short_id", "status", "triggered_by", "model", "tokens_before", "tokens_after", "saved", "reserved_share",
        "cost", "probe_score", "error_code", "created_at",
    )  # fmt: skip
    list_filter = ("status", "triggered_by", ByModel, "created_at")
    search_fields = ("id", "session__id", "session__owner__username", "error_code")
    actions = ("run_again", "delete_summary")

    def get_readonly_fields(self, request: HttpRequest, obj: Compression | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), *SHOWN]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Asked by Django for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_compression")

    @admin.action(description=_("Compress the branch again"), permissions=["operate"])
    def run_again(self, request: HttpRequest, chosen: QuerySet[Compression]) -> None:
        self._do(request, chosen, _("Compress again"), _ask_again)

    @admin.action(description=_("Delete the summary"), permissions=["operate"])
    def delete_summary(self, request: HttpRequest, chosen: QuerySet[Compression]) -> None:
        self._do(request, chosen, _("Delete the summary"), _delete_summary)

    @admin.display(description=_("saved tokens"))
    def saved(self, compression: Compression) -> object:
        return dash(compression.saved_tokens)

    @admin.display(description=_("reserved share of the window"))
    def reserved_share(self, compression: Compression) -> str:
        reserved, history = compression.reserved_tokens, compression.history_window
        if reserved is None or history is None or not reserved + history:
            return "-"
        return f"{reserved / (reserved + history):.0%}"

    @admin.display(description=_("covered messages"))
    def covered_messages(self, compression: Compression) -> object:
        return dash(covered_by(compression.summary) if compression.summary else None)

    @admin.display(description=_("text"))
    def summary_text(self, compression: Compression) -> str:
        return compression.summary.text if compression.summary else ""

    def _do(
        self,
        request: HttpRequest,
        chosen: QuerySet[Compression],
        verb: object,
        act: Act[Compression],
    ) -> None:
        do_each(self, request, chosen.select_related("leaf__parent", "model_config", "summary"), verb, act)


def covered_by(summary: ChatMessage) -> int | None:
    """How many messages it stands for; None for what is no summary."""
    cutoff: Any = summary.last_summarized_message_id
    return ChatMessage.objects.branch_to(cutoff).replies().count() if cutoff else None


def compressions_per_turns(session: Session) -> float | None:
    turns = session.turns.count()
    done = session.compressions.filter(status=CompressionStatus.DONE).count()
    return round(TURNS * done / turns, 1) if turns else None


def _ask_again(compression: Compression) -> object:
    if compression.model_config is None:
        return _("its model is not configured any more")
    asked = compression_requests.request_compression(
        compression.leaf, compression.model_config, triggered_by=TriggeredBy.STAFF
    )
    return _("queued") if asked else _("one is under way")


def _delete_summary(compression: Compression) -> object:
    """The messages it stands for are shown again, until the next one."""
    if compression.summary is None:
        return _("there is none")
    compression.summary.delete()
    return _("deleted")
