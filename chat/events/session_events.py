"""Events that concern a session and not one run: recorded in a transaction, published after its commit.

The rows are the truth. The session's log in Redis carries them to the sockets; the next event, the sweeper or the
subscriber itself repairs a publication that was lost.
"""

import logging
from collections.abc import Sequence
from functools import partial
from uuid import UUID

from django.db import transaction
from msgspec import json
from redis.exceptions import RedisError

from chat.events import session_list
from chat.log.stream import (
    EVENTS_ATTEMPT,
    Appended,
    Cursor,
    append_event_now,
    append_now,
    delete_logs,
    event_log,
    position_now,
    read_now,
)
from chat.models import Session, SessionEvent
from chat.models.sql.sessions import NUMBER_ABOVE
from chat.presenters.json_values import JSONObject
from chat.presenters.sessions import present_changed_session
from chat.protocol.wire import encode

logger = logging.getLogger(__name__)


def record(session: Session, kind: str, payload: JSONObject) -> None:
    """Record one event, with a number, in the caller's transaction; it is published after the commit."""
    publish_on_commit(session.record(kind, payload))


def publish_on_commit(event: SessionEvent) -> None:
    """Publish `event` after the commit of the transaction that recorded it."""
    transaction.on_commit(partial(publish, event))


def publish(event: SessionEvent) -> None:
    """Append a committed event to its session's log. A failure of Redis is logged; the next event sends it.

    The position of the log is not read first: usually this event alone is missing there.
    """
    try:
        reply = _append(event)
        if reply.outcome == "gap":
            resend(event.session_id)
        elif reply.outcome == "held" and _is_another(event):
            # The database has lost newer events (a failover to a replica that was behind), and counts them again.
            renumbered = NUMBER_ABOVE.first(event=event.pk, session=event.session_id, n=reply.last)
            if renumbered:
                event.n = event.session.latest_event = renumbered.n
                publish(event)
    except RedisError as error:
        logger.warning("session %s: events wait for the next publication: %s", event.session_id, error)


def resend(session_id: UUID) -> None:
    """Append all events that the session's log lacks. Raises RedisError.

    A log that has expired starts again with the newest event: subscribers find the gap and read the rows.
    """
    log = event_log(session_id)
    held = position_now(log)
    events = _after(session_id, held.seq) if held else _newest(session_id)
    if held and events and events[0].n > held.seq + 1:
        # The events in between are purged: the log cannot go on, and starts again.
        delete_logs(log)
    if events:
        lines = [frame(event) for event in events]
        append_now(log, EVENTS_ATTEMPT, events[0].n, lines, base=events[0].n)


def frames_after(session_id: UUID | str, n: int, limit: int) -> list[tuple[int, bytes]]:
    """Return at most `limit` events after n, oldest first: the number and the JSON line that sockets send."""
    return [(event.n, frame(event)) for event in _after(session_id, n)[:limit]]


def frame(event: SessionEvent) -> bytes:
    """Encode an event as the JSON line that sockets send."""
    return encode({"type": event.kind, "session": str(event.session_id), "n": event.n, **event.payload})


def started_runs(event: bytes) -> list[str]:
    """Return the ids of the runs whose packets follow a session event."""
    if b'"type":"run_continued"' in event:
        return [json.decode(event)["run"]]
    if b'"type":"turn_started"' not in event:
        return []
    return [run["id"] for run in json.decode(event)["runs"]]


def _append(event: SessionEvent) -> Appended:
    """Append an event to the session's log. If it changes a row of the list, publish the row in the same round trip on
    the channel of the owner's session list, unless the session is in the trash or temporary."""
    line = frame(event)
    if event.kind not in session_list.LISTED_KINDS:
        return append_now(event_log(event.session_id), EVENTS_ATTEMPT, event.n, [line], base=event.n)
    session = event.session
    if session.deleted_at or session.is_temporary:
        return append_now(event_log(session.pk), EVENTS_ATTEMPT, event.n, [line], base=event.n)
    channel = session_list.channel_name(session.owner_id)
    return append_event_now(session.pk, event.n, line, channel, session_list.encode_changed(session))


def _is_another(event: SessionEvent) -> bool:
    """Return whether the log holds another event under the number of this one."""
    held = read_now(event_log(event.session_id), Cursor(EVENTS_ATTEMPT, event.n - 1), count=1).lines
    return bool(held) and held[0][0] == event.n and json.decode(held[0][1]) != json.decode(frame(event))


def _after(session_id: UUID | str, n: int) -> Sequence[SessionEvent]:
    return SessionEvent.objects.filter(session_id=session_id, n__gt=n).order_by("n")  # type: ignore[return-value]


def _newest(session_id: UUID) -> Sequence[SessionEvent]:
    return list(SessionEvent.objects.filter(session_id=session_id).order_by("-n")[:1])


def record_session_changed(session: Session) -> None:
    """Record the event `session`, with the members of ChangedSession as they are stored now: one of them has changed.

    The caller holds the session's lock."""
    stored = Session.objects.get(pk=session.pk)
    record(session, "session", present_changed_session(stored))
