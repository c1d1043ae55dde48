"""Deletes sessions whose time in the trash is over."""

import logging
from typing import Final
from uuid import UUID

from chat.models import Session
from chat.sessions.deletion import purge
from chat.sweeper.periodic import Batch, PeriodicJob, attempt_repair

logger = logging.getLogger(__name__)

EVERY_S: Final = 5.0
# Per sweep; later sweeps do the rest.
SESSIONS_AT_ONCE: Final = 10


class TrashPurger(PeriodicJob):
    every_s = EVERY_S
    what = "sessions of the trash"

    def work(self) -> Batch:
        waiting = list(Session.with_trash.to_purge().values_list("pk", flat=True)[:SESSIONS_AT_ONCE])
        purged = sum(attempt_repair(f"session {session}", _purge_one, session) for session in waiting)
        return Batch(purged, has_more=len(waiting) == SESSIONS_AT_ONCE)


def _purge_one(session: UUID) -> int:
    return int(purge(session))
