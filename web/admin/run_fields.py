"""The groups of a run's columns on its page. Groups that are rarely needed are folded."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from chat.models import Run

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
