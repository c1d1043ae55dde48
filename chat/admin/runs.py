"""The admin's page of a run: who works on it, its timings, its error; and what an operator can do about it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from chat.admin.reading import ToRead
from chat.admin.sent_requests import SentRequestRows
from chat.models import Run
from chat.runs.cancelling import cancel_run
from chat.runs.requeueing import requeue

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "": ("id", "turn", "message", "model", "model_index", "status"),
    "Error": ("error_code", "error_message", "error_retryable"),
    "What it used": (
        "cycles", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost",
    ),
    "Who works on it": ("attempt", "failures", "owner", "beat_at", "lease_until", "deadline", "silent_s"),
    "When": (
        "created_at", "queued_at", "claimed_at", "ended_at", "announced_at",
        "waited_s", "worked_s", "time_to_first_token_ms",
    ),
}  # fmt: skip


@admin.register(Run)
class RunAdmin(ToRead[Run]):
    list_display = (
        "id", "model", "status", "attempt", "failures", "error_code",
        "waited_s", "time_to_first_token_ms", "worked_s", "created_at",
    )  # fmt: skip
    list_filter = ("status", "model", "error_code", "created_at")
    search_fields = ("id", "error_code", "error_message", "turn__session__owner__username")
    list_select_related = ("turn",)
    inlines = (SentRequestRows,)
    actions = ("stop", "requeue")

    def get_readonly_fields(self, request: HttpRequest, obj: Run | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "waited_s", "worked_s", "silent_s"]

    def get_fieldsets(self, request: HttpRequest, obj: Run | None = None) -> Any:
        named = {name for group in GROUPS.values() for name in group}
        others = [name for name in self.get_readonly_fields(request, obj) if name not in named]
        groups = {**GROUPS, "More": others}
        return [(title or None, {"fields": fields}) for title, fields in groups.items()]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Asked by Django for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_run")

    @admin.action(description="Stop", permissions=["operate"])
    def stop(self, request: HttpRequest, chosen: QuerySet[Run]) -> None:
        self._do(request, chosen, "Stop", lambda run: cancel_run(run.pk).status)

    @admin.action(description="Re-queue", permissions=["operate"])
    def requeue(self, request: HttpRequest, chosen: QuerySet[Run]) -> None:
        self._do(request, chosen, "Re-queue", lambda run: requeue(run.pk))

    @admin.display(description="waited (s)")
    def waited_s(self, run: Run) -> float | None:
        return _seconds(run.created_at, run.claimed_at)

    @admin.display(description="worked (s)")
    def worked_s(self, run: Run) -> float | None:
        return _seconds(run.claimed_at, run.ended_at)

    @admin.display(description="since its latest beat (s)")
    def silent_s(self, run: Run) -> float | None:
        return _seconds(run.beat_at, timezone.now()) if run.is_live else None

    def _do(self, request: HttpRequest, runs: QuerySet[Run], verb: str, act: Callable[[Run], str]) -> None:
        for run in runs:
            outcome = act(run)
            self.log_change(request, run, f"{verb}: {outcome}")
            self.message_user(request, f"{verb} {run.pk}: {outcome}", messages.INFO)


def _seconds(since: datetime | None, until: datetime | None) -> float | None:
    return round((until - since).total_seconds(), 3) if since and until else None
