"""The worker process: one event loop in a thread of its own, on which all runs of the process live.

A Celery thread waits here for its run and does nothing else.
"""

import asyncio
import logging
import secrets
import threading
from contextlib import suppress
from typing import Any

import uvloop
from django.conf import settings

from chat.log.publisher import Publisher
from chat.models import Run
from chat.redis_client import async_redis, close_async_redis
from chat.revocation import RevocationListener
from chat.tokens import count_tokens
from llm_worker.attempt import Attempt, Services
from llm_worker.database import Database
from llm_worker.lease import Leases
from llm_worker.llm import LanguageModels

logger = logging.getLogger(__name__)


class Runtime:
    """Start it once; `run` may then be called from any number of threads."""

    def __init__(self) -> None:
        self.owner = secrets.randbits(63)
        self._attempts: dict[str, Attempt] = {}
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="runs", daemon=True)
        self._database = Database()
        self._background: list[asyncio.Task[Any]] = []

    def start(self) -> None:
        """Returns when the process hears stops and can publish; waits for Redis."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()

    def run(self, run_id: str) -> bool:
        """Carry the run out; returns when it has ended. False: it was not ours to take."""
        return asyncio.run_coroutine_threadsafe(self._run(run_id), self._loop).result()

    def stop(self) -> None:
        """Let go of everything. The runs must have ended: a warm shutdown waits for them."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._database.close()

    async def _start(self) -> None:
        self._models = LanguageModels(connections=settings.LLM_CONCURRENCY, silence_s=settings.LLM_SILENCE_S)
        self._publisher = Publisher(async_redis())
        self._services = Services(self._database, self._publisher, self._models)
        self._listener = RevocationListener(self._on_revoked)
        await self._publisher.start()
        await self._listener.start()
        leases = Leases(self.owner, self._database, self._attempts.values)
        self._background = [asyncio.create_task(leases.keep_beating(), name="beat")]
        # Loads the encoding now and not with the first answer.
        await self._database.call(count_tokens, "")

    async def _stop(self) -> None:
        for task in self._background:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._listener.close()
        await self._publisher.close()
        await self._models.close()
        await close_async_redis()

    async def _run(self, run_id: str) -> bool:
        run = await self._database.call(Run.objects.claim, run_id, self.owner)
        if run is None:
            logger.debug("run %s is not ours to take", run_id)
            return False
        key = str(run.pk)
        attempt = self._attempts[key] = Attempt(run, self._services)
        try:
            await attempt.carry_out()
        finally:
            if self._attempts.get(key) is attempt:
                del self._attempts[key]
        return True

    def _on_revoked(self, run_id: str) -> None:
        if attempt := self._attempts.get(run_id):
            attempt.cut("stopped")


_current: Runtime | None = None
_lock = threading.Lock()


def current() -> Runtime:
    """This process's runtime, started at the first call."""
    global _current
    with _lock:
        if _current is None:
            runtime = Runtime()
            runtime.start()
            _current = runtime
        return _current


def stop_current() -> None:
    """At the end of the process."""
    global _current
    with _lock:
        if _current is not None:
            _current.stop()
            _current = None
