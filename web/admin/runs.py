"""The admin of runs: the worker, timings, error and history of each, and actions to stop it or to queue it again."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, Run, Session, ToolCall, Turn
from chat.protocol.states import LIVE
from chat.runs.cancellation import stop_run
from chat.sweeper.runs import RequeueOutcome, requeue
from web.admin.actions import ObjectActionsAdmin, apply_and_log
from web.admin.model_requests import RunSideRequestInline
from web.admin.read_only import or_dash
from web.admin.run_findings import list_findings
from web.admin.run_history import build_history, list_attempts
from web.admin.run_setups import VERSION_LOOKUP, list_differences, list_setups
from web.admin.run_times import build_run_times
from web.admin.search import ErrorCodeFilter, ModelFilter, SearchAdmin, TakenOverFilter

TITLES: Final[dict[str, Any]] = {
    "what": _("What happened"), "times": _("Timing"), "used": _("Tokens and cost"), "failure": _("Failure"),
    "recovery": _("Recovery"), "request": _("Request"), "internals": _("Internals"),
}  # fmt: skip
# Every column of the table, and the values that runs.py computes.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "what": ("status", "model", "turn", "message", "finish_reason", "finish_tokens", "continuations"),
    "times": (
        "created_at", "queued_at", "claimed_at", "ended_at", "announced_at", "deadline",
        "waited_s", "worked_s", "time_to_first_token_ms", "reasoning_ms",
    ),
    "used": (
        "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "estimated_tokens",
        "cost", "cycles", "spent_inferences", "spent_tool_calls", "spent_searches", "spent_tokens", "context_usage",
    ),
    "failure": (
        "error_code", "error_message", "error_retryable", "upstream_status", "upstream_code", "upstream_message",
    ),
    "recovery": ("attempt", "failures", "owner", "beat_at", "lease_until", "silent_s"),
    "request": ("options", "forced_tool", "knowledge_bases", "are_bases_picked", "knowledge_access", "dynamic_context"),
    "internals": (
        "id", "model_config", "model_index", "asker_id", "ready_queue", "is_imported", "last_seq", "saved_seq", "history",
    ),
}  # fmt: skip


def group_fields(run: Run | None) -> list[tuple[Any, dict[str, Any]]]:
    """Return the fieldsets of the run's page; for None, no group is folded."""
    folded = folded_groups(run) if run else set()
    return [
        (TITLES[name], {"fields": fields, "classes": ("collapse",) if name in folded else ()})
        for name, fields in GROUPS.items()
    ]


def folded_groups(run: Run) -> set[str]:
    """Return the groups that are not of interest for this run."""
    has_failed = bool(run.error_code or run.upstream_status or run.upstream_message)
    is_recovery_telling = run.is_live or run.attempt > 1 or run.failures > 0
    folded = {"request", "internals"}
    if not has_failed:
        folded.add("failure")
    if not is_recovery_telling:
        folded.add("recovery")
    return folded


# Tool calls on the page of a run; the list of tool calls and their own pages have all.
MAX_CALLS: Final = 200
MAX_RESPONSE_CHARACTERS: Final = 300

OUTCOMES: Final = {
    RequeueOutcome.ENQUEUED: _("enqueued"),
    RequeueOutcome.WAITS: _("waits for another turn to end"),
    RequeueOutcome.WORKED_ON: _("a worker holds it"),
    RequeueOutcome.NOT_WAITING: _("neither queued nor running"),
    RequeueOutcome.UNREACHABLE: _("the broker does not answer; the sweeper enqueues it later"),
}


@admin.register(Run)
class RunAdmin(SearchAdmin[Run], ObjectActionsAdmin[Run]):
    list_display = (
        "short_id", "owner_name", "model", "status", "error_code", "created_at",
        "waited_s", "time_to_first_token_ms", "worked_s", "attempt", "failures",
    )  # fmt: skip
    list_select_related = ("turn__session__owner",)
    list_filter = (
        "status", ModelFilter, ErrorCodeFilter, TakenOverFilter, "is_imported", "created_at", "ended_at",
    )  # fmt: skip
    ordering = ("-created_at",)
    owner_field = "turn__session__owner"
    error_field = "error_code"
    request_field = "turn__request_id"
    related_ids = ((ChatMessage, "run"), (Turn, "runs"), (Session, "turns__runs"), (ToolCall, "run"))
    search_help_text = _(
        "A user's name, an error code, the id of a run, of its request, turn, answer, session or tool call."
    )
    actions = ("stop", "requeue")
    object_actions = actions
    inlines = (RunSideRequestInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("history", "dynamic_context")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == VERSION_LOOKUP or super().lookup_allowed(lookup, value, request)

    def page_context(self, request: HttpRequest, row: Run) -> dict[str, Any]:
        context = super().page_context(request, row) | _page_context(row.pk)
        if (model := context["run"].model_config) and request.user.has_perm("chat.view_modelconfig"):
            context["called_address"] = model.shown_address
        if context["setups"] and request.user.has_perm("chat.view_promptversion"):
            context["differences"] = list_differences(context["run"], context["setups"][-1])
        return context

    def takes_actions(self, row: Run) -> bool:
        return row.status in LIVE

    def get_readonly_fields(self, request: HttpRequest, obj: Run | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "waited_s", "worked_s", "silent_s"]

    def get_fieldsets(self, request: HttpRequest, obj: Run | None = None) -> Any:  # noqa: ARG002
        return group_fields(obj)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return the permission that Django checks for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_run")

    @admin.action(description=_("Stop"), permissions=["operate"])
    def stop(self, request: HttpRequest, chosen: QuerySet[Run]) -> None:
        apply_and_log(self, request, chosen, _("Stop"), lambda run: _(stop_run(run.pk).status))

    @admin.action(description=_("Re-queue"), permissions=["operate"])
    def requeue(self, request: HttpRequest, chosen: QuerySet[Run]) -> None:
        apply_and_log(self, request, chosen, _("Re-queue"), lambda run: OUTCOMES[requeue(run.pk)])

    @admin.display(description=_("user"))
    def owner_name(self, run: Run) -> str:
        return run.turn.session.owner.get_username()

    @admin.display(description=_("waited (s)"))
    def waited_s(self, run: Run) -> object:
        return _seconds(run.created_at, run.claimed_at)

    @admin.display(description=_("worked (s)"))
    def worked_s(self, run: Run) -> object:
        return _seconds(run.claimed_at, run.ended_at)

    @admin.display(description=_("since its latest beat (s)"))
    def silent_s(self, run: Run) -> object:
        return _seconds(run.beat_at, timezone.now() if run.is_live else None)


def _page_context(run_id: UUID) -> dict[str, Any]:
    """Return the page's data besides the columns of the row."""
    run = Run.objects.for_work().select_related("turn__session__owner").get(pk=run_id)
    requests = list(run.sent_requests.select_related("tool_call").defer("messages", "parts"))
    calls = _load_calls(run)
    kind = ContentType.objects.get_for_model(Run)
    logged = LogEntry.objects.filter(content_type=kind, object_id=str(run.pk)).select_related("user")
    attempts = list_attempts(run)
    setups = list_setups(run)
    done = [(one.action_time, one.user.get_username(), one.get_change_message()) for one in logged]
    return {
        "run": run,
        "history": build_history(run, done),
        "attempts": attempts,
        "findings": list_findings(run, attempts, calls, requests),
        "calls": calls,
        "requests": requests,
        "setups": setups,
        "times": build_run_times(run, requests, calls),
    }


def _load_calls(run: Run) -> list[Any]:
    """Return the run's tool calls, oldest first, with the beginning of each response."""
    beginning = Substr("response", 1, MAX_RESPONSE_CHARACTERS)
    columns = ("name", "status", "created_at", "duration_ms", "run", "parent_tool_call")
    return list(
        run.tool_calls.annotate(response_start=beginning).only(*columns).order_by("created_at")[:MAX_CALLS]
    )


def _seconds(since: datetime | None, until: datetime | None) -> object:
    return or_dash(round((until - since).total_seconds(), 3) if since and until else None)
