"""What concerns a session and not one run: recorded with the change it tells of, published after the commit.

The rows are the truth; the session's log in Redis carries them to the sockets, and a lost publication is
repaired by the next one or by the subscriber itself.
"""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from redis.exceptions import RedisError

from chat.events import session_list
from chat.log.stream import EVENTS_ATTEMPT, Appended, append_event_now, append_now, event_log, position_now
from chat.models import Session, SessionEvent
from chat.protocol.wire import encode

logger = logging.getLogger(__name__)


def record(session: Session, kind: str, payload: dict[str, Any]) -> SessionEvent:
    """Number and keep one event in the caller's transaction; push_on_commit publishes it."""
    return session.record(kind, payload)


def tell(session: Session, kind: str, payload: dict[str, Any]) -> None:
    """Record one event and publish it once it is committed."""
    publish_on_commit(record(session, kind, payload))


def publish_on_commit(event: SessionEvent) -> None:
    """push_on_commit for one event: appended without a look at the log, which mostly lacks this one alone."""
    transaction.on_commit(partial(publish, event))


def publish(event: SessionEvent) -> None:
    """publish_on_commit for one that is committed."""
    try:
        if _append(event).outcome == "gap":
            push(event.session_id)
    except RedisError as error:
        logger.warning("session %s: events wait for the next push: %s", event.session_id, error)


def push_on_commit(session_id: Any) -> None:
    """Publish what this transaction recorded once it is committed. With Redis away the rows wait for the next
    push; a commit is never undone by it."""
    transaction.on_commit(partial(_push_or_log, session_id))


def push(session_id: Any) -> None:
    """Append the events the session's log lacks. Raises RedisError.

    A log that has expired starts again with the newest event: subscribers find the gap and read the rows.
    """
    log = event_log(session_id)
    held = position_now(log)
    events = _after(session_id, held.seq) if held else _newest(session_id)
    if events:
        lines = [frame(event) for event in events]
        append_now(log, EVENTS_ATTEMPT, events[0].n, lines, base=events[0].n)


def frames_after(session_id: Any, n: int, limit: int) -> list[tuple[int, bytes]]:
    """Events after n, oldest first, as sent to sockets; at most `limit`."""
    return [(event.n, frame(event)) for event in _after(session_id, n)[:limit]]


def frame(event: SessionEvent) -> bytes:
    return encode({"type": event.kind, "session": str(event.session_id), "n": event.n, **event.payload})


def _append(event: SessionEvent) -> Appended:
    """To the session's log; with it the owner's other tabs hear what the list shows of the session now."""
    line = frame(event)
    if event.kind not in session_list.LISTED_KINDS:
        return append_now(event_log(event.session_id), EVENTS_ATTEMPT, event.n, [line], base=event.n)
    session = event.session
    heard = session_list.channel(session.owner_id), session_list.changed(session)
    return append_event_now(session.pk, event.n, line, *heard)


def _push_or_log(session_id: Any) -> None:
    try:
        push(session_id)
    except RedisError as error:
        logger.warning("session %s: events wait for the next push: %s", session_id, error)


def _after(session_id: Any, n: int) -> Any:
    return SessionEvent.objects.filter(session_id=session_id, n__gt=n).order_by("n")


def _newest(session_id: Any) -> list[SessionEvent]:
    return list(SessionEvent.objects.filter(session_id=session_id).order_by("-n")[:1])
