"""Runs as clients see them."""

from typing import Final

from chat.models import Run
from chat.presenters.json_values import JSONObject, isoformat_or_none

# In the order in which they are usually set.
RUN_TIMESTAMPS: Final = (
    "created_at", "queued_at", "claimed_at", "beat_at", "lease_until", "deadline", "ended_at", "announced_at",
)  # fmt: skip


def present_run(run: Run) -> JSONObject:
    presented = {
        "id": str(run.pk),
        "turn": str(run.turn_id),
        "message": str(run.message_id),
        "model": run.model,
        "model_index": run.model_index,
        "status": run.status,
        "attempt": run.attempt,
        "failures": run.failures,
        # A string: a 64-bit integer exceeds JavaScript's exact numbers.
        "owner": str(run.owner) if run.owner is not None else None,
        "usage": {
            "prompt_tokens": run.prompt_tokens,
            "completion_tokens": run.completion_tokens,
            "cached_tokens": run.cached_tokens,
            "reasoning_tokens": run.reasoning_tokens,
        },
        "cost": None if run.cost is None else float(run.cost),
        "time_to_first_token_ms": run.time_to_first_token_ms,
        "reasoning_ms": run.reasoning_ms,
        "cycles": run.cycles,
        **{name: isoformat_or_none(getattr(run, name)) for name in RUN_TIMESTAMPS},
    }
    return presented | present_error(run)


def present_error(run: Run) -> JSONObject:
    """The member `error` of a run and of its message; empty without an error."""
    if not run.error_code:
        return {}
    return {
        "error": {
            "code": run.error_code,
            "message": run.error_message,
            "retryable": run.error_retryable,
        }
    }
