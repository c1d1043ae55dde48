"""The run state machine, as a table. Pure.

Every move is one `filter(status__in=sources(to)).update(status=to)` that must change exactly one row.
"""

from enum import StrEnum
from typing import Final, Literal


class Status(StrEnum):
    QUEUED = "queued"  # committed; a worker will claim it
    RUNNING = "running"  # a worker holds the lease
    STOPPING = "stopping"  # a stop was asked for; its worker has not ended it yet
    WAITING = "waiting"  # a tool call needs a human's approval or answer; no worker is held
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.STOPPED, Status.FAILED}),
    Status.RUNNING: frozenset(
        # running to running: another worker takes over an expired lease
        {
            Status.RUNNING,
            Status.COMPLETED,
            Status.FAILED,
            Status.STOPPED,
            Status.STOPPING,
            Status.WAITING,
            Status.QUEUED,
        }
    ),
    Status.STOPPING: frozenset({Status.STOPPED}),
    Status.WAITING: frozenset({Status.QUEUED, Status.STOPPED}),
    Status.COMPLETED: frozenset(),
    Status.FAILED: frozenset(),
    Status.STOPPED: frozenset(),
}
TERMINAL = frozenset(status for status, targets in MOVES.items() if not targets)
LIVE = frozenset(MOVES) - TERMINAL
# A worker holds the run, and alone may write its end.
HELD = frozenset({Status.RUNNING, Status.STOPPING})


def sources(to: Status) -> frozenset[Status]:
    """Return the states from which `to` may be reached."""
    return frozenset(status for status, targets in MOVES.items() if to in targets)


# The stop_reason of a run that ended in this status.
STOP_REASONS: Final[dict[Status, Literal["finished", "user_cancelled", "error"]]] = {
    Status.COMPLETED: "finished",
    Status.FAILED: "error",
    Status.STOPPED: "user_cancelled",
}
