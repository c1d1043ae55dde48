"""One attempt at a run, from claim to end: the only place that knows both the loop and why it may be cut short."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from chat.infrastructure.revocation import is_revoked
from chat.log.producer import StaleAttempt
from chat.log.publisher import Publisher
from chat.metrics import counters
from chat.models.outcome import End, Usage
from chat.protocol.states import Status
from chat.protocol.wire import Error, RunAddress, Snapshot, run_error
from chat.transcript.packets import Blocks
from chat.transcript.rebuild import documents_of
from llm_worker.brief import Brief
from llm_worker.database import Database
from llm_worker.emitter import Emitter
from llm_worker.loading.build_brief import (
    build_brief,
    can_continue,
    load_opening,
    load_saved_answer_and_citations,
)
from llm_worker.loading.claim import ClaimedRun
from llm_worker.loop import run_llm_loop
from llm_worker.persistence.checkpoint_tracker import CheckpointTracker
from llm_worker.persistence.fenced_writes import announce_end, finish_run, release_run
from llm_worker.post_run.context_report import ContextReport
from llm_worker.post_run.request_log import RequestLog
from llm_worker.post_run.request_recorder import RequestRecorder
from llm_worker.post_run.window_usage import WindowUsage
from llm_worker.request.documents import Numbering
from llm_worker.state import RunState
from llm_worker.step import Models
from llm_worker.tool_calls.interrupted import end_interrupted_call
from llm_worker.tool_calls.round_runner import LoopDeps
from llm_worker.tool_calls.round_store import DatabaseRoundStore
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request

logger = logging.getLogger(__name__)

# stopped: somebody asked for it.  deadline: it took too long.  lost: the run is not ours any more.
# released: this process may not go on with it; another one shall.
CancelReason = Literal["stopped", "deadline", "lost", "released"]


@dataclass(frozen=True)
class WorkerServices:
    """What a worker process shares among its attempts."""

    database: Database
    publisher: Publisher
    models: Models
    sent: RequestLog
    # A hundred runs that begin together must not open a hundred Redis connections for one question each.
    redis_questions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))


class Attempt:
    """Belongs to the event loop. The run was claimed by this process, and is leased since `leased_at` or later."""

    def __init__(self, taken: ClaimedRun, services: WorkerServices, leased_at: float) -> None:
        self.run = run = taken.run
        self._brief = taken.brief
        self.leased_at = leased_at  # on the loop's clock; moved by every beat
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._began_at = leased_at
        self._state = RunState()
        self._sent = RequestRecorder()
        ahead = settings.COMPRESSION_AHEAD_RATIO if settings.COMPRESSION_AHEAD else 1.0
        self._window_usage = WindowUsage(min(settings.COMPRESSION_TRIGGER_RATIO, ahead))
        self._producer = services.publisher.open(self._address(), on_stale=lambda: self.cancel("lost"))
        blocks = Blocks(model_index=run.model_index)
        self._emitter = Emitter(self._producer, self._state, blocks, self._loop.time)
        self.checkpoint = CheckpointTracker(run, self._state, self._producer, self._began_at)
        self._answering: asyncio.Task[None] | None = None
        self._cancel_reason: CancelReason | None = None
        self._cancelled_at = 0.0
        self._opened: Snapshot | None = None
        self._has_begun = False

    async def carry_out(self) -> bool:
        """Answer and end the run. False: it was put back, for another worker to go on with."""
        self._answering = asyncio.create_task(self._answer(), name=f"run {self.run.pk}")
        try:
            if self._cancel_reason:  # before it began
                self._answering.cancel()
            await asyncio.wait({self._answering}, timeout=self.run.expires_in_s)
            self.cancel("deadline")
            await asyncio.wait({self._answering})
            self.checkpoint.close()
            if self._cancel_reason == "released":
                return not await self._put_back()
            if self._cancel_reason != "lost":
                await self._end(*self._outcome(self._answering))
        finally:
            self._answering.cancel()
            self._producer.discard()
            self._services.sent.keep(self.run, self._sent.take())
        return True

    def cancel(self, reason: CancelReason) -> None:
        """End the answer here, even while the upstream is silent. The first reason counts; after the end, none."""
        if self._cancel_reason is None and not (self._answering and self._answering.done()):
            self._cancel_reason, self._cancelled_at = reason, self._loop.time()
            if self._answering:
                self._answering.cancel()

    async def check_revoked(self) -> None:
        """Stop, if that was asked for while this process did not hear it."""
        if await self._is_revoked():
            self.cancel("stopped")

    async def _answer(self) -> None:
        if can_continue(self.run):
            await self._open()
        if self.run.attempt == 1:
            self._emitter.run_start(self.run.model)
        # A stop from before the process listened for this run.
        await self.check_revoked()
        brief = self._brief
        if brief is None:
            brief = await self._services.database.call_with_retry(build_brief, self.run)
        if self.run.attempt > 1:
            self._emitter.run_start(self.run.model)
        self._has_begun = True
        self._window_usage.brief = brief
        self._state.usage, self._state.cycles = brief.earlier.usage, brief.earlier.cycles
        await run_llm_loop(brief, self._deps(brief), self._emitter)

    def _deps(self, brief: Brief) -> LoopDeps:
        return LoopDeps(
            models=self._services.models,
            store=DatabaseRoundStore(
                self.run, self._services.database, self.checkpoint, lambda: self.cancel("lost")
            ),
            numbering=Numbering(brief.highest_number, documents_of(brief.earlier.rounds)),
            # The turn's, so that a second attempt is told the same.
            now=self.run.turn.created_at,
            tool_limit_s=settings.TOOL_TIMEOUT_S,
            sent=self._record,
        )

    def _record(self, inside: str, request: Request, report: ContextReport) -> None:
        """A request goes out, of the run's own loop or of the agent call's in that row."""
        tool_call = UUID(inside) if inside else None
        self._sent.record(request.messages, datetime.now(UTC), tool_call=tool_call, report=report)
        if not inside:
            self._window_usage.messages = request.messages

    async def _open(self) -> None:
        """Show what an earlier attempt has said."""
        self._opened = await self._services.database.call_with_retry(load_opening, self.run)
        if self._opened:
            self._producer.open_with_snapshot(self._opened)

    async def _keep_what_was_left(self) -> None:
        """An attempt that ends before it has taken up what earlier ones have left neither hides nor overwrites it."""
        left, cited = await self._services.database.call_with_retry(load_saved_answer_and_citations, self.run)
        if not self._opened:
            self._producer.open_with_snapshot(left)
        self._state.keep(left.message["text"], self.run.message.reasoning)
        self._emitter.cited.update({document.number: document for document in cited})

    async def _is_revoked(self) -> bool:
        try:
            async with self._services.redis_questions:
                return await is_revoked(self.run.turn.session_id, self.run.pk)
        except RedisError:
            return False  # the row says so too, and the next beat reads it

    def _outcome(self, answering: asyncio.Task[None]) -> tuple[Status, Error | None]:
        if self._cancel_reason == "stopped":
            return Status.STOPPED, None
        if self._cancel_reason == "deadline":
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
        """Commit, then say how it ended, then announce; a crash in between is completed from the database."""
        if self.run.attempt > 1 and not self._has_begun:
            await self._keep_what_was_left()
        never_ran = end_interrupted_call(self.run, self._emitter)
        self._emitter.end()
        last_seq = self._producer.settle() + (2 if error else 1)
        offered = replace(self._make_end(status, error, last_seq=last_seq), never_ran=never_ran)
        end = await self._services.database.call_with_retry(finish_run, self.run, offered)
        if end is None:
            return
        counters.run_ended(self.run.model, end)
        self._emitter.stop(end.stop_reason, end.error)
        with suppress(StaleAttempt):
            await self._producer.flush()
            counters.stop_said(self._cancel_reason, self._loop.time() - self._cancelled_at)
            is_failed = end.status == Status.FAILED
            reserved = None if is_failed else self._window_usage.reserved_tokens_if_due(self._state.text)
            await self._services.database.call_with_retry(announce_end, self.run, reserved)

    async def _put_back(self) -> bool:
        held = self.checkpoint.take()
        self._producer.discard()
        return await self._services.database.call_with_retry(release_run, held)

    def _make_end(self, status: Status, error: Error | None, *, last_seq: int) -> End:
        state = self._state
        first = state.first_token_at
        return End(
            status=status,
            last_seq=last_seq,
            text=state.text,
            reasoning=state.reasoning,
            error=error,
            usage=Usage(**state.usage._asdict()),
            time_to_first_token_ms=None if first is None else round((first - self._began_at) * 1000),
            reasoning_ms=state.reasoning_ms,
            cycles=state.cycles,
            citations=tuple(self._emitter.cited.values()),
            # Those of an earlier attempt may be open, too, if this one was cut before it took them up.
            has_open_calls=state.has_called or self.run.attempt > 1,
            reports={row: (inner.latest_text, inner.reasoning) for row, inner in state.reports.items()},
        )

    def _address(self) -> RunAddress:
        return RunAddress(
            session=str(self.run.turn.session_id),
            run=str(self.run.pk),
            attempt=self.run.attempt,
            model_index=self.run.model_index,
        )
