"""The ordinary announcement in one round trip: of the only run of its turn, in a session whose title stays, nobody waiting.

Everything else (several models, a title to give, turns that follow) is not ordinary: chat/runs/completion.py.
"""

from typing import Any, Final

from msgspec import json

from chat.models.session import IS_UNNAMED, Session, SessionEvent
from chat.models.sql import statements
from chat.protocol.states import STOP_REASONS

_KIND: Final = "overall_stop"
# A statement of its own: what comes after it sees what was committed while it waited for the lock.
_HOLD = """
    SELECT FROM chat_session WHERE id = (
        SELECT turn.session_id FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        WHERE run.id = %(run)s
    ) FOR NO KEY UPDATE
"""
_REASON = " ".join(f"WHEN '{status}' THEN '{reason}'" for status, reason in STOP_REASONS.items())
# As Run.announce, Turn.end and Session.record do it one after the other.
_ANNOUNCE = f"""
    WITH ordinary AS (
        SELECT turn.id, turn.session_id, CASE run.status {_REASON} END AS reason
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        WHERE run.id = %(run)s AND run.ended_at IS NOT NULL AND run.announced_at IS NULL
            AND turn.ended_at IS NULL AND NOT {IS_UNNAMED}
            AND NOT EXISTS (SELECT FROM chat_run AS other WHERE other.turn_id = turn.id AND other.id <> run.id)
            AND NOT EXISTS (SELECT FROM chat_turn AS follower WHERE follower.after_id = turn.id)
    ), announced AS (
        UPDATE chat_run SET announced_at = STATEMENT_TIMESTAMP() FROM ordinary WHERE chat_run.id = %(run)s
    ), ended AS (
        UPDATE chat_turn SET ended_at = STATEMENT_TIMESTAMP() FROM ordinary WHERE chat_turn.id = ordinary.id
    ), session AS (
        UPDATE chat_session SET latest_event = latest_event + 1, answered_event = latest_event + 1
        FROM ordinary WHERE chat_session.id = ordinary.session_id RETURNING chat_session.*
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT session.id, session.latest_event, '{_KIND}',
            jsonb_build_object('turn', ordinary.id, 'stop_reason', ordinary.reason), STATEMENT_TIMESTAMP()
        FROM session, ordinary
        RETURNING id, n, created_at, payload
    )
    SELECT event.payload, event.id, event.n, event.created_at, {statements.columns(Session, "session")}, EXISTS (
        SELECT FROM chat_turn AS turn
        WHERE turn.session_id = session.id AND turn.ended_at IS NULL AND turn.id <> ordinary.id
    ) FROM event, session, ordinary
"""  # noqa: S608  names and states alone


def announce_ordinary(run_id: Any) -> SessionEvent | None:
    """Mark an ended run as announced, end its turn and record `overall_stop`, to be published. None: nothing was
    done, because it is not as simple, or done already.

    Not inside a transaction: what is asked in one round trip is one by itself.
    """
    given = {"run": run_id}
    _, recorded = statements.together((_HOLD, given), (_ANNOUNCE, given))
    if not recorded:
        return None
    payload, *row = recorded[0]
    return SessionEvent.of(row, _KIND, json.decode(payload))
