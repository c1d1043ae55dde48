"""Statements about sessions: reading, locking, recording an event, marking as seen, and the tags of a user.

A tag is a word that at least one session has; words that differ only in capitals are the same tag.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db.models.expressions import RawSQL

from chat.models.sql.rows import SESSION, SessionRow
from chat.models.sql.statements import Statement, literal
from chat.protocol.states import Status

# A condition on a table `session`: neither its owner nor a model has named it, and a model is to.
IS_UNNAMED: Final = (
    "(session.temporary_until IS NULL AND (session.title = '' OR session.has_makeshift_title))"
)
# For a SELECT list: whether a turn of the table `session` has not ended. Plan: index turn_in_progress.
IS_ANSWERING: Final = """EXISTS (
        SELECT FROM chat_turn AS turn WHERE turn.session_id = session.id AND turn.ended_at IS NULL
    )"""
# The same: whether a run of such a turn waits for its user. Plan: turn_in_progress, runs by turn.
IS_WAITING: Final = f"""EXISTS (
        SELECT FROM chat_turn AS turn JOIN chat_run AS run ON run.turn_id = turn.id
        WHERE turn.session_id = session.id AND turn.ended_at IS NULL AND run.status = {literal(Status.WAITING)}
    )"""


class ListedSession(NamedTuple):
    """A session as lists show it."""

    session: SessionRow
    is_answering: bool
    is_waiting: bool


class EventNumber(NamedTuple):
    n: int


class RecordedEvent(NamedTuple):
    """A stored SessionEvent with the session it belongs to."""

    id: int
    n: int
    created_at: datetime
    session: SessionRow
    is_answering: bool
    is_waiting: bool


# Parameters: session, user. Plan: primary key.
READ_OWN: Final = Statement(
    f"""
    SELECT {SESSION} FROM chat_session AS session
    WHERE id = %(session)s AND owner_id = %(user)s AND deleted_at IS NULL
    """,  # noqa: S608
    SessionRow,
)
# Parameters: session. Plan: primary key.
LOCK: Final = Statement(
    f"""
    SELECT {SESSION} FROM chat_session AS session
    WHERE id = %(session)s AND deleted_at IS NULL FOR NO KEY UPDATE
    """,  # noqa: S608
    SessionRow,
)
# The same for a session that may be in the trash.
LOCK_ANY: Final = Statement(
    f"SELECT {SESSION} FROM chat_session AS session WHERE id = %(session)s FOR NO KEY UPDATE",  # noqa: S608
    SessionRow,
)
# Parameters: session, kind, payload (jsonb). Plan: primary key, turn_in_progress.
RECORD: Final = Statement(
    f"""
    WITH session AS (
        UPDATE chat_session SET
            latest_event = latest_event + 1, is_measured = FALSE,
            answered_event = CASE %(kind)s::text WHEN 'overall_stop' THEN latest_event + 1 ELSE answered_event END
        WHERE id = %(session)s RETURNING *
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, %(kind)s, %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.id, event.n, event.created_at, {SESSION}, {IS_ANSWERING}, {IS_WAITING}
    FROM event, session
    """,  # noqa: S608  constants alone
    RecordedEvent,
)
# Gives an event a number above n and all others. Parameters: event, session, n. Plan: primary keys.
NUMBER_ABOVE: Final = Statement(
    """
    WITH session AS (
        UPDATE chat_session SET latest_event = GREATEST(latest_event, %(n)s) + 1 WHERE id = %(session)s
        RETURNING latest_event
    )
    UPDATE chat_sessionevent SET n = latest_event FROM session WHERE id = %(event)s RETURNING n
    """,
    EventNumber,
)
# Parameters: session, n (NULL: all there is). Plan: primary key, turn_in_progress.
MARK_SEEN: Final = Statement(
    f"""
    UPDATE chat_session AS session SET seen_event = LEAST(COALESCE(%(n)s, latest_event), latest_event)
    WHERE id = %(session)s AND seen_event < answered_event
        AND seen_event < LEAST(COALESCE(%(n)s, latest_event), latest_event)
    RETURNING {SESSION}, {IS_ANSWERING}, {IS_WAITING}
    """,  # noqa: S608  constants alone
    ListedSession,
)


HAS_TAG: Final = "EXISTS (SELECT FROM unnest(tags) AS tag WHERE lower(tag) = lower({tag}))"


class UsedTag(NamedTuple):
    """sessions: how many sessions have the tag, those in the trash left out."""

    name: str
    sessions: int


# Parameters: user, but (a session that is left out, or NULL). In the order of the alphabet. Plan: session_by_owner.
LIST: Final = Statement(
    """
    SELECT min(tag), (count(DISTINCT id) FILTER (WHERE deleted_at IS NULL))::int
    FROM chat_session, unnest(tags) AS tag
    WHERE owner_id = %(user)s AND id IS DISTINCT FROM %(but)s::uuid
    GROUP BY lower(tag) ORDER BY lower(tag)
    """,
    UsedTag,
)


def sessions_with(owner_id: Any, tag: str) -> RawSQL:
    """Return a subquery of the ids of the owner's sessions that have the tag."""
    condition = HAS_TAG.format(tag="%s")
    return RawSQL(f"SELECT id FROM chat_session WHERE owner_id = %s AND {condition}", [owner_id, tag])  # noqa: S608, S611  no values
