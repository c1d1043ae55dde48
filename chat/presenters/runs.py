"""Runs as clients see them."""

from typing import Final

from chat.models import Run
from chat.presenters.json_values import JSONObject, isoformat_or_none
from chat.transcript.run_options import present_options

# In the order in which they are usually set.
RUN_TIMESTAMPS: Final = (
    "created_at", "queued_at", "claimed_at", "beat_at", "lease_until", "deadline", "ended_at", "announced_at",
)  # fmt: skip


# Of a request, each with its tokens in Run.context_usage.
CONTEXT_PARTS: Final = ("system", "tools", "summary", "history", "files", "question")
# In answers; the admin shows all that is kept.
MAX_UPSTREAM_CHARACTERS: Final = 500


def present_run(run: Run, *, is_for_staff: bool = False) -> JSONObject:
    """is_for_staff: the reader may see what the model server said."""
    presented = {
        "id": str(run.pk),
        "turn": str(run.turn_id),
        "request_id": run.turn.request_id,
        "message": str(run.message_id),
        "model": run.model,
        "model_index": run.model_index,
        "status": run.status,
        "attempt": run.attempt,
        "failures": run.failures,
        "continuations": run.continuations,
        # A string: a 64-bit integer exceeds JavaScript's exact numbers.
        "owner": str(run.owner) if run.owner is not None else None,
        "usage": {
            "prompt_tokens": run.prompt_tokens,
            "completion_tokens": run.completion_tokens,
            "cached_tokens": run.cached_tokens,
            "reasoning_tokens": run.reasoning_tokens,
            "estimated_tokens": run.estimated_tokens,
        },
        "cost": None if run.cost is None else float(run.cost),
        "time_to_first_token_ms": run.time_to_first_token_ms,
        "reasoning_ms": run.reasoning_ms,
        "cycles": run.cycles,
        "options": present_options(run.options),
        "finish_reason": run.finish_reason,
        "finish_tokens": run.finish_tokens,
        "context": _present_context(run),
        **_present_setup(run),
        **{name: isoformat_or_none(getattr(run, name)) for name in RUN_TIMESTAMPS},
    }
    return presented | present_error(run) | _present_upstream_error(run, is_for_staff=is_for_staff)


def _present_upstream_error(run: Run, *, is_for_staff: bool) -> JSONObject:
    """The member `upstream_error`: users are told the status alone."""
    error = run.upstream_error
    if not run.error_code or not (error.status or (is_for_staff and error.message)):
        return {}
    presented: JSONObject = {"status": error.status}
    if is_for_staff:
        code = {"code": error.code} if error.code else {}
        presented |= {**code, "message": error.message[:MAX_UPSTREAM_CHARACTERS]}
    return {"upstream_error": presented}


def present_cut(run: Run) -> JSONObject:
    """The members finish_reason and finish_tokens of a message that is incomplete; empty for a whole one."""
    if not run.told_finish.is_cut:
        return {}
    tokens = {} if run.finish_tokens is None else {"finish_tokens": run.finish_tokens}
    return {"finish_reason": run.finish_reason, **tokens}


def _present_context(run: Run) -> JSONObject | None:
    """How the latest request filled the window, in tokens; `free` is what is left beside what is reserved."""
    stored = run.context_usage
    if stored is None:
        return None
    used = sum(stored[part] for part in CONTEXT_PARTS)
    return {**stored, "used": used, "free": max(0, stored["window"] - stored["reserved"] - used)}


def _present_setup(run: Run) -> JSONObject:
    """The agent that answered, as it was called then, and the version of its prompts and tools; of the latest attempt."""
    setup = run.setups.order_by("attempt").last()
    return {
        "agent": {"id": str(setup.agent), "name": setup.agent_name} if setup and setup.agent else None,
        "version": setup.version_id if setup else None,
    }


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
