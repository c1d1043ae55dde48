"""One attempt at a run, from claim to end: the only place that knows both the loop and why it may be cut short."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from django.utils import timezone
from redis.exceptions import RedisError

from chat.log.outlet import StaleAttempt
from chat.log.publisher import Publisher
from chat.metrics import counted
from chat.models import Run
from chat.protocol import Error, RunAddress, run_error
from chat.revocation import is_revoked
from chat.runs import ending
from chat.states import Status
from llm_worker.database import Database
from llm_worker.deltas import ModelFailed
from llm_worker.emitter import Emitter
from llm_worker.loop import run_llm_loop
from llm_worker.prepare import prepare
from llm_worker.state import RunState
from llm_worker.step import Models

logger = logging.getLogger(__name__)

# stopped: somebody asked for it.  deadline: it took too long.  lost: the run is not ours any more.
Cut = Literal["stopped", "deadline", "lost"]


@dataclass(frozen=True)
class Services:
    """What a worker process shares among its attempts."""

    database: Database
    publisher: Publisher
    models: Models
    # A hundred runs that begin together must not open a hundred Redis connections for one question each.
    redis_questions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))


class Attempt:
    """Belongs to the event loop. `run` was claimed by this process."""

    def __init__(self, run: Run, services: Services) -> None:
        self.run = run
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._began_at = self._loop.time()
        self._state = RunState()
        self._outlet = services.publisher.open(self._address(), on_stale=lambda: self.cut("lost"))
        self._emitter = Emitter(self._outlet, self._state, run.model_index, self._loop.time)
        self._answering: asyncio.Task[None] | None = None
        self._cut: Cut | None = None
        self._cut_at = 0.0

    async def carry_out(self) -> None:
        """Answer and end the run; or stop working on it, if it is not ours any more."""
        self._answering = asyncio.create_task(self._answer(), name=f"run {self.run.pk}")
        try:
            await asyncio.wait({self._answering}, timeout=max(0.0, self.run.expires_in_s(timezone.now())))
            self.cut("deadline")
            await asyncio.wait({self._answering})
            # Cancelled, but by no cut: the process is going down, and another one will take the run over.
            going_down = self._answering.cancelled() and self._cut is None
            if self._cut != "lost" and not going_down:
                await self._end(*self._outcome(self._answering))
        finally:
            self._answering.cancel()
            self._outlet.discard()

    def cut(self, reason: Cut) -> None:
        """End the answer here, even while the upstream is silent. The first reason counts; after the end, none."""
        if self._cut is None and self._answering and not self._answering.done():
            self._cut, self._cut_at = reason, self._loop.time()
            self._answering.cancel()

    async def _answer(self) -> None:
        self._emitter.run_start(self.run.model)
        # A stop from before the process listened for this run.
        if await self._is_revoked():
            self.cut("stopped")
        request = await self._services.database.call(prepare, self.run)
        await run_llm_loop(request, self._services.models, self._emitter, self._state)

    async def _is_revoked(self) -> bool:
        try:
            async with self._services.redis_questions:
                return await is_revoked(self.run.turn.session_id, self.run.pk)
        except RedisError:
            return False  # the row says so too, and the next beat reads it

    def _outcome(self, answering: asyncio.Task[None]) -> tuple[Status, Error | None]:
        if self._cut == "stopped":
            return Status.STOPPED, None
        if self._cut == "deadline":
            return Status.FAILED, run_error("deadline_exceeded")
        failure = answering.exception()
        if failure is None:
            return Status.COMPLETED, None
        if isinstance(failure, ModelFailed):
            logger.info("run %s failed: %s", self.run.pk, failure)
            return Status.FAILED, run_error(failure.code)
        logger.error("run %s broke", self.run.pk, exc_info=failure)
        return Status.FAILED, run_error("internal_error")

    async def _end(self, status: Status, error: Error | None) -> None:
        """Commit, then say `stop`, then announce; a crash in between is completed from the database."""
        self._emitter.end(error)
        end = await self._commit(self._make_end(status, error, last_seq=self._outlet.settle() + 1))
        if end is None:
            return
        self._emitter.stop(end.stop_reason)
        with suppress(StaleAttempt):
            await self._outlet.flush()
            counted.stop_said(self._cut, self._loop.time() - self._cut_at)
            await self._services.database.call(ending.announce, self.run.pk)

    async def _commit(self, end: ending.End) -> ending.End | None:
        """The end that was saved; None if the run is not ours any more."""
        call = self._services.database.call
        # A stop may come while the last words are written: a run that is stopping can only end as stopped.
        for offered in (end, replace(end, status=Status.STOPPED, error=None)):
            if await call(ending.commit_end, self.run.pk, self.run.attempt, offered):
                counted.run_ended(self.run.model, offered)
                return offered
        return None

    def _make_end(self, status: Status, error: Error | None, *, last_seq: int) -> ending.End:
        state = self._state
        first = state.first_token_at
        return ending.End(
            status=status,
            last_seq=last_seq,
            text=state.text,
            reasoning=state.reasoning,
            error=error,
            usage=ending.Usage(**state.usage._asdict()),
            time_to_first_token_ms=None if first is None else round((first - self._began_at) * 1000),
            cycles=state.cycles,
        )

    def _address(self) -> RunAddress:
        return RunAddress(
            session=str(self.run.turn.session_id),
            run=str(self.run.pk),
            attempt=self.run.attempt,
            model_index=self.run.model_index,
        )
