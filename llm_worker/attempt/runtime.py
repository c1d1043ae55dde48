"""Runtime: the worker process. One event loop in a dedicated thread executes all runs of the process.

A Celery thread waits here for its run and does nothing else.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import uvloop
from django.conf import settings
from django.db import DatabaseError

from chat.infrastructure import log_context
from chat.infrastructure.background import start_task
from chat.infrastructure.gc_tuning import keep_freeing_circles
from chat.infrastructure.liveness import new_owner
from chat.infrastructure.redis_client import async_redis, close_async_redis
from chat.infrastructure.revocation import RevocationListener, part_of, run_of
from chat.log.flush_window import FlushWindow
from chat.log.publisher import Publisher
from chat.models import Run
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs import turn_parts
from chat.runs.task_queue import UNREACHABLE, enqueue
from chat.transcript.tokens import count_tokens
from llm_worker.attempt.attempt import Attempt, WorkerServices
from llm_worker.attempt.checkpointer import Checkpointer, CheckpointTracker
from llm_worker.attempt.heartbeat import Heartbeat, LivenessLock
from llm_worker.database import Database
from llm_worker.loading.claim import claim_run
from llm_worker.records.request_log import RequestLog
from llm_worker.records.server_traits import DialectMemory, TokenCalibration
from llm_worker.upstream.llm import LanguageModels
from llm_worker.worker_part import WorkerPart

logger = logging.getLogger(__name__)

# The exit code of sysexits.h.
EX_SOFTWARE: Final = 70


class Runtime:
    """The worker process. It is started once; run() may then be called from any number of threads."""

    def __init__(self) -> None:
        self.owner = new_owner()
        self._liveness_lock = LivenessLock(self.owner)
        self._attempts: dict[str, Attempt] = {}
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="runs", daemon=True)
        self._database = Database()
        self._background: list[asyncio.Task[Any]] = []
        self._revocation_checks: set[asyncio.Task[Any]] = set()
        self._drain = Drain(self._loop, self._attempts.values)

    def start(self) -> None:
        """Start the process: it then receives stops, can publish and counts as alive. Waits for Redis and Postgres."""
        self._liveness_lock.start()
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()

    def run(self, run_id: str, queue: str = DEFAULT_QUEUE) -> bool:
        """Carry out the run, or a waiting run of the queue that comes before it (decision 0086).

        Returns when the run has ended or was released; False if there was no run to claim.
        """
        return asyncio.run_coroutine_threadsafe(self._run(run_id, queue), self._loop).result()

    def run_beside(self, work: Callable[[WorkerServices], Awaitable[None]]) -> None:
        """Carry out work that is not a run; returns when it has ended. A draining process begins no such work."""
        asyncio.run_coroutine_threadsafe(self._unless_draining(work), self._loop).result()

    def drain(self, grace_s: float) -> None:
        """Claim no more runs; release the others after the grace period. Safe in any thread or signal handler."""
        self._loop.call_soon_threadsafe(self._drain.begin, grace_s)

    def stop(self) -> None:
        """Close everything. The runs must have ended: a warm shutdown waits for them."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._database.close()
        self._liveness_lock.stop()

    def _run_loop(self) -> None:
        """Run the event loop. If it fails, the process exits and frees its locks: all its threads wait for the loop."""
        try:
            self._loop.run_forever()
        except BaseException:
            logger.exception("the event loop of the runs has failed")
            os._exit(EX_SOFTWARE)

    async def _start(self) -> None:
        flush_window = FlushWindow()
        dialects = DialectMemory(self._database)
        self._models = LanguageModels(
            connections=settings.LLM_CONCURRENCY,
            silence_s=settings.LLM_SILENCE_S,
            flush_window=flush_window,
            memory=dialects,
        )
        self._publisher = Publisher(async_redis(), flush_window)
        self._request_log = RequestLog(self._database)
        kinds: Sequence[type[WorkerPart]] = turn_parts.worker_parts()
        parts = [kind(self._database) for kind in kinds]
        self._services = WorkerServices(
            self._database,
            self._publisher,
            self._models,
            self._request_log,
            TokenCalibration(self._database),
            dialects,
            parts,
        )
        self._listener = RevocationListener(self._on_revoked, self._on_reconnected)
        await self._publisher.start()
        await self._listener.start()
        heartbeat = Heartbeat(self.owner, self._database, self._attempts.values, parts)
        checkpointer = Checkpointer(self.owner, self._database, self._checkpoints)
        self._background = [
            start_task("beat", heartbeat.keep_extending_leases),
            start_task("fence", heartbeat.keep_fencing),
            start_task("checkpoints", checkpointer.keep_saving),
            start_task("sent requests", self._request_log.keep_writing),
            start_task("memory", keep_freeing_circles),
        ]
        # Load the encoding now and not during the first answer.
        await self._database.call(count_tokens, "")

    async def _stop(self) -> None:
        for task in self._background:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for part in self._services.parts:
            await part.close()
        await self._request_log.write()
        await self._listener.close()
        await self._publisher.close()
        await self._models.close()
        await close_async_redis()

    async def _run(self, run_id: str, queue: str) -> bool:
        with self._drain.bounded():
            if self._drain.has_begun:
                await self._wake_another(run_id)
                return False
            # Read before the claim: the lease begins at some moment after this one.
            leased_at = self._loop.time()
            claimed = await self._database.call_with_retry(claim_run, run_id, self.owner, queue)
            if claimed is None:
                logger.debug("run %s cannot be claimed, and nothing else waits", run_id)
                return False
            run = claimed.run
            with log_context.bound(
                run=run.pk,
                turn=run.turn_id,
                session=run.turn.session_id,
                attempt=run.attempt,
                model=run.model,
                request_id=run.turn.request_id,
            ):
                await self._carry_out(Attempt(claimed, self._services, leased_at))
        return True

    async def _unless_draining(self, work: Callable[[WorkerServices], Awaitable[None]]) -> None:
        if not self._drain.has_begun:
            with self._drain.bounded():
                await work(self._services)

    async def _carry_out(self, attempt: Attempt) -> None:
        key = str(attempt.run.pk)
        if older := self._attempts.get(key):
            older.cancel("lost")  # whatever its number: the database gave the run again
        self._attempts[key] = attempt
        if self._drain.is_over:
            attempt.cancel("released")
        try:
            ended = await attempt.carry_out()
        finally:
            if self._attempts.get(key) is attempt:
                del self._attempts[key]
        if not ended:
            await self._wake_another(key)

    def _checkpoints(self) -> list[CheckpointTracker]:
        attempts = self._attempts.values()
        return [tracker for attempt in attempts if (tracker := attempt.checkpoint)]

    async def _wake_another(self, run_id: str) -> None:
        """Wake another worker for the run. Best effort: otherwise the sweeper does it later."""
        try:
            await self._database.call(wake, run_id)
        except (*UNREACHABLE, DatabaseError) as error:
            logger.warning("run %s waits for the sweeper: %s", run_id, error)

    def _on_revoked(self, part: str) -> None:
        attempt = self._attempts.get(run_of(part))
        if attempt and part_of(attempt.run.pk, attempt.run.continuations) == part:
            attempt.cancel("stopped")

    def _on_reconnected(self) -> None:
        for attempt in self._attempts.values():
            check = self._loop.create_task(attempt.check_revoked())
            self._revocation_checks.add(check)
            check.add_done_callback(self._revocation_checks.discard)


def wake(run_id: str) -> None:
    """Enqueue a queued run again."""
    run = Run.objects.select_related("model_config").filter(pk=run_id).first()
    if run is not None:
        enqueue(run_id, run.queue)


_current: Runtime | None = None
_lock = threading.Lock()


def current() -> Runtime:
    """Return this process's runtime; the first call starts it."""
    global _current
    with _lock:
        if _current is None:
            runtime = Runtime()
            runtime.start()
            _current = runtime
        return _current


def drain_current(grace_s: float) -> None:
    """Drain the runtime, from a signal handler: takes no lock.

    A process that still waits for Postgres or Redis has nothing to drain, and exits at once.
    """
    if _current is None:
        raise SystemExit(0)
    _current.drain(grace_s)


def stop_current() -> None:
    """Stop the runtime at the end of the process."""
    global _current
    with _lock:
        if _current is not None:
            _current.stop()
            _current = None


# How long saving and releasing may take; the sweeper repairs what Postgres or Redis have not accepted by then.
HANDOVER_S = 4.5


class Drain:
    """The shutdown of a worker process, on its event loop. live: returns the attempts of the process.

    Cooperative: Celery waits for its threads and its thread pool cannot end them, so every run must return in time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, live: Callable[[], Collection[Attempt]]) -> None:
        self.has_begun = False  # no more runs are claimed
        self.is_over = False  # no more runs are finished
        self._loop = loop
        self._live = live
        self._runs: set[asyncio.Task[object]] = set()
        self._gave_up = False

    def begin(self, grace_s: float) -> None:
        """Claim no more runs, and release the others after the grace period. Idempotent: the shortest period counts."""
        self.has_begun = True
        if grace_s > 0:
            self._loop.call_later(grace_s, self._release_runs)
        else:
            self._release_runs()

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Wrap a run, which is ended when the process cannot wait any longer."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker: runs are tasks
        self._runs.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._gave_up:
                raise
            logger.warning("a run could not be released in time; it is taken over when its lease expires")
        finally:
            self._runs.discard(task)

    def _release_runs(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        for attempt in list(self._live()):
            attempt.cancel("released")
        self._loop.call_later(HANDOVER_S, self._cancel_runs)

    def _cancel_runs(self) -> None:
        self._gave_up = True
        for run in self._runs:
            run.cancel()
