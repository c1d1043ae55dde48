"""The counters and histograms of each process; incremented per batch or run, never per token.

Values are kept in memory; tally.py adds them to the sums in Redis.
"""

from typing import Any, Final
from weakref import WeakSet

from prometheus_client import CollectorRegistry, Counter, Histogram

from chat.models.outcome import RunOutcome
from chat.transcript.usage import TokenUsage

# Not the default registry, which adds metrics of the process that cannot be summed.
REGISTRY: Final = CollectorRegistry()

RUNS_ENDED: Final = Counter(
    "turnwire_runs_ended", "Runs that ended, by how and by model.", ["status", "model"], registry=REGISTRY
)
ERRORS: Final = Counter(
    "turnwire_run_errors",
    "Runs that failed, by error code and by model.",
    ["code", "model"],
    registry=REGISTRY,
)
FIRST_TOKEN_S: Final = Histogram(
    "turnwire_time_to_first_token_seconds",
    "From the claim of a run to the first token of its model.",
    ["model"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 40, 80, 160),
    registry=REGISTRY,
)
TOKENS: Final = Counter(
    "turnwire_tokens",
    "Tokens of runs, by kind (prompt, completion, cached, reasoning; estimated: of the first two, those that no server reported).",
    ["model", "kind"],
    registry=REGISTRY,
)
SIDE_TOKENS: Final = Counter(
    "turnwire_side_request_tokens",
    "Tokens of titles, summaries and safe summaries, by purpose, model and kind.",
    ["purpose", "model", "kind"],
    registry=REGISTRY,
)
TOOL_CALL_S: Final = Histogram(
    "turnwire_tool_call_seconds",
    "How long calls of tools ran, by tool and by how they ended (completed, failed, unknown).",
    ["tool", "status"],
    buckets=(0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160),
    registry=REGISTRY,
)
APPEND_S: Final = Histogram(
    "turnwire_append_seconds",
    "One round trip that appends the waiting packets of a worker process to their logs.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=REGISTRY,
)
LOOP_LAG_S: Final = Histogram(
    "turnwire_loop_lag_seconds",
    "How late the event loop of a worker process is, four times a second while it has runs.",
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
STOP_S: Final = Histogram(
    "turnwire_stop_seconds",
    "From a worker hearing of a stop until `stop` is in the log.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
SLOW_CLOSES: Final = Counter(
    "turnwire_slow_client_closes", "Sockets closed with 4408: they read too slowly.", registry=REGISTRY
)
TAKEOVERS: Final = Counter(
    "turnwire_takeovers", "Runs taken from a dead owner and given to another worker.", registry=REGISTRY
)
SWEEPS: Final = Counter("turnwire_sweeps", "Passes of the leading sweeper.", registry=REGISTRY)
REPAIRS: Final = Counter(
    "turnwire_repairs",
    "What the sweeper repaired besides takeovers, by kind (the members of SweepReport in chat/sweeper/runs.py).",
    ["kind"],
    registry=REGISTRY,
)
TASKS_DROPPED: Final = Counter(
    "turnwire_tasks_dropped", "Queue messages that no worker understands.", registry=REGISTRY
)

NO_USAGE: Final = TokenUsage()
# The open sockets of this process. Weak references: a socket that is garbage-collected is closed.
OPEN_SOCKETS: Final[WeakSet[Any]] = WeakSet()


def run_ended(model: str, end: RunOutcome, counted: TokenUsage = NO_USAGE) -> None:
    """Count an ended run. Called once per end, by the process that committed it. counted: usage counted before."""
    RUNS_ENDED.labels(end.status, model).inc()
    if end.error:
        ERRORS.labels(end.error.code, model).inc()
    if end.time_to_first_token_ms is not None:
        FIRST_TOKEN_S.labels(model).observe(end.time_to_first_token_ms / 1000)
    for kind, tokens in _by_kind(end.usage, counted):
        TOKENS.labels(model, kind).inc(tokens)


def side_request_answered(purpose: str, model: str, usage: TokenUsage) -> None:
    """Count the tokens that a request for a title or a summary used."""
    for kind, tokens in _by_kind(usage):
        SIDE_TOKENS.labels(purpose, model, kind).inc(tokens)


def tool_call_ended(tool: str, status: str, seconds: float) -> None:
    """Count a call that ran. tool: the name of an existing tool, not one that a model made up."""
    TOOL_CALL_S.labels(tool, status).observe(seconds)


def stop_appended(reason: str | None, seconds: float) -> None:
    """Measure an attempt that was stopped, once `stop` is in the log. reason: why it was cancelled, or None."""
    if reason == "stopped":
        STOP_S.observe(seconds)


def swept(*, takeovers: int, repairs: dict[str, int]) -> None:
    """Count one sweep."""
    SWEEPS.inc()
    TAKEOVERS.inc(takeovers)
    for kind, number in repairs.items():
        REPAIRS.labels(kind).inc(number)


def _by_kind(usage: TokenUsage, counted: TokenUsage = NO_USAGE) -> list[tuple[str, int]]:
    """Return the increase of each count over `counted` with its label `kind`; without increase it is left out."""
    named = zip(("prompt", "completion", "cached", "reasoning", "estimated"), usage, counted, strict=True)
    return [(kind, more) for kind, tokens, before in named if (more := (tokens or 0) - (before or 0)) > 0]
