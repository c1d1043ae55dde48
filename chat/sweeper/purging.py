"""Deletes sessions for good: temporary ones that are no longer in use, and those whose time in the trash is over.

Only Redis knows whether a socket is subscribed to a temporary session: without Redis none of these is deleted.
"""

import logging
from typing import Final
from uuid import UUID

from django.db.models.functions import Now
from redis.exceptions import RedisError

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import session_channel
from chat.models import Run, Session
from chat.sessions.deletion import expire, purge
from chat.sessions.settings import lifetime
from chat.sweeper.periodic import Batch, PeriodicJob, attempt_repair

logger = logging.getLogger(__name__)

EVERY_S: Final = 10.0
TRASH_EVERY_S: Final = 5.0
# No temporary session is deleted for so long after a sweeper has started: all processes may have restarted, and pages
# must connect again first.
WAIT_S: Final = 60.0
# Of each kind per sweep; later sweeps do the rest.
SESSIONS_AT_ONCE: Final = 10


class TemporaryPurger(PeriodicJob):
    every_s = EVERY_S
    what = "temporary sessions"

    def __init__(self) -> None:
        super().__init__()
        self._deletes_from: float | None = None

    def work(self) -> Batch:
        if self._deletes_from is None:
            self._deletes_from = self._now_s + WAIT_S
        try:
            unused = _find_unused()
        except RedisError as error:
            logger.warning("Redis is unreachable, temporary sessions are kept: %s", error)
            return Batch(0)
        if self._now_s < self._deletes_from:
            return Batch(0)
        deleted = sum(
            attempt_repair(f"temporary session {session}", expire, session)
            for session in unused[:SESSIONS_AT_ONCE]
        )
        return Batch(deleted, has_more=len(unused) > SESSIONS_AT_ONCE)


def _find_unused() -> list[UUID]:
    """Prolong sessions in use that have less than half of their time left; return sessions whose time is over."""
    soon = list(Session.objects.unused_within(lifetime() / 2).values_list("pk", flat=True))
    if not soon:
        return []
    in_use = [*_with_sockets(soon), *_being_answered(soon)]
    Session.objects.filter(pk__in=in_use, temporary_until__isnull=False).update(
        temporary_until=Now() + lifetime()
    )
    over = Session.objects.filter(pk__in=soon, temporary_until__lte=Now()).exclude(pk__in=in_use)
    return list(over.order_by("temporary_until").values_list("pk", flat=True))


def _with_sockets(sessions: list[UUID]) -> list[UUID]:
    """Return the sessions that a socket is subscribed to. Raises RedisError."""
    counts = sync_redis().pubsub_numsub(*(session_channel(session) for session in sessions))
    return [session for session, (_, count) in zip(sessions, counts, strict=True) if count]


def _being_answered(sessions: list[UUID]) -> list[UUID]:
    live = Run.objects.live().filter(turn__session__in=sessions)
    return list(live.values_list("turn__session", flat=True).distinct())


class TrashPurger(PeriodicJob):
    every_s = TRASH_EVERY_S
    what = "sessions of the trash"

    def work(self) -> Batch:
        waiting = list(Session.with_trash.to_purge().values_list("pk", flat=True)[:SESSIONS_AT_ONCE])
        purged = sum(attempt_repair(f"session {session}", purge, session) for session in waiting)
        return Batch(purged, has_more=len(waiting) == SESSIONS_AT_ONCE)
