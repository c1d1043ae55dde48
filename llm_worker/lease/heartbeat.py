"""The beat: every second this process says which runs it still works on, and learns what became of them.

Without a successful beat it lets go of its runs by itself, before anybody else may take them.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError
from django.db.models.functions import Now

from chat.models import Run
from chat.models.run import LEASE_S
from chat.protocol.states import HELD, Status
from llm_worker.attempt import Attempt
from llm_worker.lease.database import Database

logger = logging.getLogger(__name__)

BEAT_S = 1.0
# Seconds without a beat after which a run is let go: well before the lease of LEASE_S ends for the others.
FENCE_S = 7.0
FENCE_CHECK_S = 0.25


class Leases:
    """Extends the leases of the attempts that `live` returns; cuts those that are stopping or not ours any more."""

    def __init__(self, owner: int, database: Database, live: Callable[[], Collection[Attempt]]) -> None:
        self._owner = owner
        self._database = database
        self._live = live

    async def keep_beating(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._beat()
            except DatabaseError as error:
                logger.warning("no beat: %s", error)

    async def keep_fencing(self) -> None:
        """Apart from the beat, which may hang in the database. On the monotonic clock: no time server moves it."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(FENCE_CHECK_S)
            for attempt in list(self._live()):
                if loop.time() - attempt.leased_at > FENCE_S:
                    attempt.cancel("released")

    async def _beat(self) -> None:
        attempts = list(self._live())
        if not attempts:
            return
        asked_at = asyncio.get_running_loop().time()
        held = await self._database.call(extend, self._owner, [attempt.run.pk for attempt in attempts])
        for attempt in attempts:
            number, status = held.get(str(attempt.run.pk), (None, None))
            if number != attempt.run.attempt:
                attempt.cancel("lost")
            else:
                attempt.leased_at = asked_at
                if status == Status.STOPPING:
                    attempt.cancel("stopped")


def extend(owner: int, run_ids: list[UUID]) -> dict[str, tuple[int, str]]:
    """Extend this owner's leases; returns attempt and status of the runs that it still holds."""
    held = Run.objects.filter(pk__in=run_ids, owner=owner, status__in=HELD)
    held.update(beat_at=Now(), lease_until=Now() + timedelta(seconds=LEASE_S))
    return {str(pk): (attempt, status) for pk, attempt, status in held.values_list("pk", "attempt", "status")}
