"""Upkeep of sessions after events: measures their size, and deletes their events beyond KEEP_EVENTS_PER_SESSION."""

import logging
from typing import Final
from uuid import UUID

from django.conf import settings

from chat.models import Session, SessionEvent, StoredBytes
from chat.sweeper.periodic import Batch, PeriodicJob, attempt_repair

logger = logging.getLogger(__name__)

EVERY_S: Final = 5.0
# Per sweep; later sweeps do the rest.
SESSIONS_AT_ONCE: Final = 100


class SessionUpkeep(PeriodicJob):
    every_s = EVERY_S

    def work(self) -> Batch:
        """Purge and measure sessions with new events. The batch counts those that are up to date now."""
        waiting = StoredBytes.objects.unmeasured(SESSIONS_AT_ONCE)
        owners: list[int] = []
        for session in waiting:
            attempt_repair(f"session {session}", _update_one, session, owners)
        for owner in set(owners):
            StoredBytes.objects.refresh(owner)
        return Batch(len(owners), has_more=len(waiting) == SESSIONS_AT_ONCE)


def _update_one(session: UUID, owners: list[int]) -> None:
    """Purge the events of a session and measure it. owners: gets its owner appended if it was measured."""
    purge_events(session)
    owner = StoredBytes.objects.measure(session)
    if owner is not None:
        owners.append(owner)


def purge_events(session: UUID) -> int:
    """Delete all but the newest events; return how many. A client that lacks deleted ones receives `resync`."""
    kept = settings.KEEP_EVENTS_PER_SESSION
    latest = Session.with_trash.filter(pk=session).values_list("latest_event", flat=True).first()
    if not kept or latest is None or latest <= kept:
        return 0
    return SessionEvent.objects.filter(session=session, n__lte=latest - kept).delete()[0]
