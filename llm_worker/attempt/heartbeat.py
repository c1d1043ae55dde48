"""Extends the leases of this process's runs every second and reads back which runs were stopped or taken over, and which
models and tools were disabled.

Without a successful heartbeat the process releases its runs (self-fencing) before another worker may claim them. The
advisory lock that it holds until its end tells the sweeper that it is alive.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Sequence

import psycopg
from django.db import DatabaseError

from chat.infrastructure.background import start_thread
from chat.infrastructure.liveness import Lock
from chat.metrics import counters
from chat.models import Run
from chat.models.lease import RUN_LEASE
from chat.protocol.states import Status
from llm_worker.attempt.attempt import Attempt
from llm_worker.database import Database
from llm_worker.worker_part import WorkerPart

logger = logging.getLogger(__name__)

# Seconds without a heartbeat after which a run is released: well before its lease expires.
FENCE_S = 7.0
FENCE_CHECK_S = 0.25


class Heartbeat:
    """Extends the leases of the attempts that `live` returns; cancels those that are stopping, taken over or withdrawn.
    parts: those of the features, which disable tools.
    """

    def __init__(
        self,
        owner: int,
        database: Database,
        live: Callable[[], Collection[Attempt]],
        parts: Sequence[WorkerPart],
    ) -> None:
        self._owner = owner
        self._database = database
        self._live = live
        self._parts = parts

    async def keep_extending_leases(self) -> None:
        while True:
            await asyncio.sleep(RUN_LEASE.beat_s)
            try:
                await self._extend_leases()
            except DatabaseError as error:
                logger.warning("no heartbeat: %s", error)

    async def keep_fencing(self) -> None:
        """Release runs without a recent heartbeat. Runs as a separate task: the heartbeat may hang in the database.

        Uses the monotonic clock, which is never adjusted. Its own lateness is that of the loop of all runs.
        """
        loop = asyncio.get_running_loop()
        while True:
            due_at = loop.time() + FENCE_CHECK_S
            await asyncio.sleep(FENCE_CHECK_S)
            live = list(self._live())
            if live:
                counters.LOOP_LAG_S.observe(max(0.0, loop.time() - due_at))
            for attempt in live:
                if loop.time() - attempt.leased_at > FENCE_S:
                    attempt.cancel("released")

    async def _extend_leases(self) -> None:
        attempts = list(self._live())
        if not attempts:
            return
        asked_at = asyncio.get_running_loop().time()
        ids = [attempt.run.pk for attempt in attempts]
        held = await self._database.extend_leases(Run.objects.extend_leases, self._owner, ids)
        for attempt in attempts:
            lease = held.get(attempt.run.pk)
            if lease is None or lease.attempt != attempt.run.attempt:
                attempt.cancel("lost")
            else:
                attempt.extend_lease(asked_at)
                if lease.status == Status.STOPPING:
                    attempt.cancel("stopped")
                elif lease.is_withdrawn:
                    attempt.cancel("disabled")
        await self._disable_tools(attempts)

    async def _disable_tools(self, attempts: Collection[Attempt]) -> None:
        tools = [tool for attempt in attempts for tool in attempt.tools]
        for part in self._parts:
            await part.disable_tools(tools)


# Interval of reconnecting: shorter than the time the sweeper waits before it trusts free locks.
CHECK_S = 1.0


class LivenessLock:
    """Holds the process's advisory lock from before its first claim until its end (chat/infrastructure/liveness.py).

    Runs in a separate thread, so that a busy event loop or a slow query does not look like a dead process.
    """

    def __init__(self, owner: int) -> None:
        self._lock = Lock(owner)
        self._held = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread and return when the lock is held. Waits for Postgres, until a signal handler raises."""
        self._thread = start_thread("liveness lock", self._lock_until_end)
        try:
            self._held.wait()
        except BaseException:
            self._ending.set()
            raise

    def stop(self) -> None:
        self._ending.set()
        if self._thread:
            self._thread.join()

    def _lock_until_end(self) -> None:
        while not self._ending.is_set():
            try:
                if self._lock.hold():
                    self._held.set()
                else:
                    # Postgres has not noticed yet that the previous connection is closed.
                    logger.warning("the liveness lock is not free yet")
            except psycopg.Error as error:
                logger.warning("the liveness lock waits for Postgres: %s", error)
            self._ending.wait(CHECK_S)
        self._lock.release()
