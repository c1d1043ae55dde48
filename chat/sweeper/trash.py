"""Deletes sessions whose time in the trash is over."""

import logging
from typing import Final
from uuid import UUID

from chat.models import Session
from chat.sessions.deletion import purge
from chat.sweeper.repairs import attempt_repair

logger = logging.getLogger(__name__)

EVERY_S: Final = 5.0
# Of one sweep; later sweeps do the rest.
SESSIONS_AT_ONCE: Final = 10


class TrashPurger:
    """Every five seconds; while there is more to delete, at every call."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def purge(self, now_s: float) -> int:
        """Return the number of deleted sessions. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        waiting = list(Session.with_trash.to_purge().values_list("pk", flat=True)[:SESSIONS_AT_ONCE])
        purged = sum(attempt_repair(f"session {session}", _purge_one, session) for session in waiting)
        if len(waiting) < SESSIONS_AT_ONCE:
            self._next_at = now_s + EVERY_S
        return purged


def _purge_one(session: UUID) -> int:
    return int(purge(session))
