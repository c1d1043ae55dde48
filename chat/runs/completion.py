"""Ends a run exactly once: commits the end, then, when its `stop` is in the packet log, announces it.

Called by the run's worker, or by chat/runs/orphans.py for a run without one. A crash between the steps loses
nothing: the sweeper completes a committed end with the data in the database alone. Does not write the log (chat/log).
"""

from uuid import UUID

from django.db import transaction

from chat.events import session_events
from chat.models import CitedDocument, Run, Session, ToolCall, Turn
from chat.models.outcome import RunOutcome, overall_stop_reason
from chat.models.sql.turns import TurnState
from chat.runs import turn_parts, turn_queue


def commit_end(run_id: UUID, attempt: int, end: RunOutcome, owner: int | None = None) -> bool:
    """Save the end, fenced by `attempt`; in one statement if the run used no tools and cites nothing.

    owner: the worker that ends it, which must still have the run; None: whoever has it.

    Returns False, with nothing written, if another attempt has started, the run has ended, or the state machine forbids
    the move. A run that is `stopping` can only end as stopped.
    """
    if not (end.citations or end.has_open_calls or end.never_ran):
        return end.store(run_id, attempt, owner)
    with transaction.atomic():
        ended = end.store(run_id, attempt, owner)
        if ended:
            ToolCall.objects.bulk_create(end.never_ran, ignore_conflicts=True)
            ToolCall.objects.abandon(run_id, end.reports, hands_over=end.hands_over)
            CitedDocument.objects.keep(Run.objects.values_list("message").get(pk=run_id)[0], end.citations)
    return ended


def announce(run_id: UUID) -> None:
    """Announce that a run has ended. Called when its `stop` is in the log. Idempotent.

    The last run of a turn ends the turn: `overall_stop` is recorded once and published after the commit. The session
    row is locked first, so of two runs that end together exactly one ends the turn.
    """
    with transaction.atomic():
        announced = Run.objects.announce(run_id)
        if announced is None:
            return  # the session was deleted meanwhile
        run, turn = announced
        if turn is None:
            return
        if run.is_new:
            turn_parts.after_run(run_id, turn)
        if turn.is_announced:
            _end_turn(run.session_id, turn)


def _end_turn(session_id: UUID, turn: TurnState) -> None:
    payload = {"turn": str(turn.id), "stop_reason": overall_stop_reason(turn.statuses)}
    session_events.publish_on_commit(Turn.objects.end(turn.id, Session(pk=session_id), payload))
    turn_parts.after_turn(turn)
    if turn.has_followers:
        turn_queue.release_followers(Turn.objects.select_related("after").get(pk=turn.id))
