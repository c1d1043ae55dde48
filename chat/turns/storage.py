"""Stores a planned turn. After the commit its event is published, then its runs are enqueued."""

from collections.abc import Sequence
from dataclasses import dataclass

from chat.events import session_events
from chat.models import Run, Turn
from chat.presenters.turns import present_turn
from chat.runs import daily_limits, task_queue
from chat.turns.insert import TurnInsert


@dataclass(frozen=True)
class StartedTurn:
    """A stored turn. is_repeat: an earlier request with the same client_message_id stored it."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    is_repeat: bool = False


def store_turn(insert: TurnInsert, latest_event: int) -> StartedTurn | None:
    """Store a planned turn. latest_event: the session's latest event when it was planned.
    Returns None, and stores nothing, if there is a newer event, or if the runs of today are used up."""
    event = insert.store(latest_event, present_turn(insert.turn, insert.runs))
    if event is None:
        return None
    session_events.publish_on_commit(event)
    if insert.turn.after_id is None:  # otherwise the end of that turn enqueues them
        task_queue.enqueue_on_commit(insert.runs)
    return StartedTurn(insert.turn, insert.runs)


def store_turn_locked(insert: TurnInsert, latest_event: int) -> StartedTurn:
    """Store a planned turn for a caller that took the session's lock before it read latest_event.
    Raises ApiError if a send in another session has taken the last run of the day."""
    started = store_turn(insert, latest_event)
    if started is None:
        daily_limits.check_again(insert.turn.session.owner_id, len(insert.runs))
        raise RuntimeError(f"session {insert.turn.session_id} changed under its lock")
    return started
