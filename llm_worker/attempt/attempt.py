"""Attempt: one attempt at a run, from claim to end. Runs the loop and knows why it may be cancelled.

completion.py ends an attempt; loop/resume.py continues what earlier attempts left.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from chat.infrastructure.revocation import is_revoked, part_of
from chat.log.publisher import Publisher
from chat.metrics import counters
from chat.models.run_spending import run_limits
from chat.protocol.run_errors import run_error
from chat.protocol.states import Status
from chat.protocol.wire import RunAddress
from chat.transcript.dialect import UNTAGGED_THINKING
from chat.transcript.packets import Blocks
from chat.transcript.rebuild import documents_of
from chat.transcript.run_options import asks_for_json
from chat.transcript.token_usage import TokenUsage
from llm_worker.attempt.attempt_completion import AttemptCompletion, AttemptOutcome
from llm_worker.attempt.checkpoint_tracker import CheckpointTracker
from llm_worker.attempt.dialect_memory import DialectMemory
from llm_worker.attempt.fenced_writes import Waiting
from llm_worker.attempt.round_store import DatabaseRoundStore
from llm_worker.database import Database, LoadingTimeout
from llm_worker.loading.build_brief import build_brief, can_continue, load_opening
from llm_worker.loading.claim import Claim
from llm_worker.loading.knowledge import RunKnowledge
from llm_worker.loading.sources import SessionSources
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.call_approval import ApprovalNeeded
from llm_worker.loop.context_report import ContextReport
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.loop import run_llm_loop
from llm_worker.loop.round_runner import LoopDeps
from llm_worker.loop.state import RunState
from llm_worker.mcp.connections import Connections
from llm_worker.records.request_log import RequestLog
from llm_worker.records.request_recorder import RequestRecorder
from llm_worker.records.token_calibration import ReportedRequest, TokenCalibration
from llm_worker.records.window_usage import WindowUsage
from llm_worker.request.numbered_documents import Numbering
from llm_worker.side_requests.query_expansion import QueryExpansion
from llm_worker.side_requests.safe_summary import SafeSummaries
from llm_worker.tools.fair_slots import USER
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Request

logger = logging.getLogger(__name__)

# stopped: a user stopped the run.  deadline: it took too long.  disabled: staff disabled its model or the provider.
# lost: another process owns it.
# released: this process must give it up, and another process resumes it.
# stale: another attempt owns its log; if this one still has the run, it needs a higher number.
CancelReason = Literal["stopped", "deadline", "disabled", "lost", "released", "stale"]
# What an answer that is cancelled for these reasons fails with.
_CANCEL_ERRORS: Final = {"deadline": "deadline_exceeded", "disabled": "model_not_configured"}


@dataclass(frozen=True)
class WorkerServices:
    """The services that the attempts of a worker process share."""

    database: Database
    publisher: Publisher
    models: LanguageModels
    request_log: RequestLog
    calibration: TokenCalibration
    dialects: DialectMemory
    servers: Connections
    # A hundred runs that start together must not open a hundred Redis connections for one question each.
    redis_questions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))


class Attempt:
    """One attempt at a run, on the event loop.

    leased_at: a time on the loop's clock, not after the lease began; every heartbeat moves it.
    """

    def __init__(self, claimed: Claim, services: WorkerServices, leased_at: float) -> None:
        self.run = run = claimed.run
        self.leased_at = leased_at
        self._brief, self._rows = claimed.brief, claimed.rows
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._state = RunState()
        self._requests = RequestRecorder()
        self._reported: list[ReportedRequest] = []
        self._producer = services.publisher.open(self._address(), on_stale=lambda: self.cancel("stale"))
        blocks = Blocks(model_index=run.model_index)
        self._emitter = Emitter(
            self._producer, self._state, blocks, self._loop.time, settings.MAX_RUN_CHARACTERS
        )
        self.checkpoint = CheckpointTracker(run, self._state, self._producer, leased_at, self._emitter.cited)
        self._completion = AttemptCompletion(
            run,
            services.database,
            self._producer,
            self._emitter,
            self._state,
            self.checkpoint,
            started_at=leased_at,
            window_usage=WindowUsage(settings.COMPRESSION_TRIGGER_RATIO),
        )
        self._answering: asyncio.Task[None] | None = None
        self._cancel_reason: CancelReason | None = None
        self._cancelled_at = 0.0

    async def carry_out(self) -> bool:
        """Answer and end the run, or let it wait for its user. False: another worker must be woken to go on."""
        self._answering = asyncio.create_task(self._answer(), name=f"run {self.run.pk}")
        try:
            if self._cancel_reason:  # cancelled before it started
                self._answering.cancel()
            await asyncio.wait({self._answering}, timeout=self.run.expires_in_s)
            self.cancel("deadline")
            await asyncio.wait({self._answering})
            self.checkpoint.close()
            if self._cancel_reason in ("released", "stale"):
                return not await self._completion.release()
            if self._cancel_reason is None and isinstance(self._answering.exception(), ApprovalNeeded):
                return await self._wait_for_approval()
            if self._cancel_reason != "lost":
                await self._completion.end(self._outcome(self._answering), self._measure_stop)
        finally:
            self._answering.cancel()
            self._producer.discard()
            self._services.request_log.keep(self.run, self._requests.take())
        if self.run.model_config:
            await self._services.calibration.take(self.run.model_config, self._reported)
        return True

    async def _wait_for_approval(self) -> bool:
        """Let the run wait for its user. False: the user has decided meanwhile, and another worker must be woken."""
        became = await self._completion.let_wait()
        if became == Waiting.STOPPING:
            await self._completion.end(AttemptOutcome(Status.STOPPED), self._measure_stop)
        return became != Waiting.DECIDED

    def cancel(self, reason: CancelReason) -> None:
        """Cancel the answer, even while the upstream is silent. Only the first reason counts; after the end, none."""
        if self._cancel_reason is None and not (self._answering and self._answering.done()):
            self._cancel_reason, self._cancelled_at = reason, self._loop.time()
            if self._answering:
                self._answering.cancel()

    async def check_revoked(self) -> None:
        """Cancel the attempt if a stop was requested while this process was not subscribed."""
        try:
            async with self._services.redis_questions:
                part = part_of(self.run.pk, self.run.continuations)
                is_stopped = await is_revoked(self.run.turn.session_id, part)
        except RedisError:
            return  # a stop is stored in the row too, and the next heartbeat reads it
        if is_stopped:
            self.cancel("stopped")

    async def _answer(self) -> None:
        USER.set(self.run.turn.session.owner_id)
        if can_continue(self.run):
            await self._show_saved_answer()
        if self.run.attempt == 1:
            self._emitter.run_start(self.run.model)
        # The stop may have been requested before the process listened for this run.
        await self.check_revoked()
        brief = self._brief
        if brief is None:
            rows, self._rows = self._rows, None
            brief = await self._services.database.load(build_brief, self.run, rows)
        if self.run.attempt > 1:
            self._emitter.run_start(self.run.model)
        self._completion.has_resumed = True
        self._completion.window_usage.brief = brief
        self.checkpoint.setup = brief.setup
        self._state.usage, self._state.cycles = brief.earlier.usage, brief.earlier.cycles
        self._completion.has_counted(brief.earlier.usage, brief.earlier.finish)
        self._completion.allowance = allowance = Allowance(run_limits(), brief.earlier.spent)
        self._emitter.is_json = asks_for_json(brief.options)
        self._emitter.is_untagged = UNTAGGED_THINKING in brief.model.dialect
        await run_llm_loop(brief, self._deps(brief, allowance), self._emitter)
        if self._state.has_untagged_thinking:
            await self._services.dialects.remember(brief.model, frozenset({UNTAGGED_THINKING}))
        elif self._state.has_marked_reasoning:
            await self._services.dialects.forget(brief.model, UNTAGGED_THINKING)

    async def _show_saved_answer(self) -> None:
        """Open the log with a snapshot of what earlier attempts saved."""
        opening = await self._services.database.load(load_opening, self.run)
        if opening:
            self._completion.is_opened = True
            self._producer.open_with_snapshot(opening)

    def _deps(self, brief: Brief, allowance: Allowance) -> LoopDeps:
        return LoopDeps(
            models=self._services.models,
            store=DatabaseRoundStore(
                self.run, self._services.database, self.checkpoint, allowance, lambda: self.cancel("lost")
            ),
            numbering=Numbering(
                brief.highest_number, [*brief.known_documents, *documents_of(brief.earlier.rounds)]
            ),
            allowance=allowance,
            # The time of the turn, so that a second attempt sends the same.
            now=self.run.turn.created_at,
            tool_limit_s=settings.TOOL_TIMEOUT_S,
            on_request=self._record,
            on_usage=self._record_usage,
            on_tool_call=counters.tool_call_ended,
            sources=SessionSources.of_session(self.run.turn.session),
            knowledge=RunKnowledge(
                self.run, SafeSummaries(self.run, self._services.models, self._services.database)
            ),
            servers=self._services.servers,
            rewrite_queries=QueryExpansion(self.run, self._services.models, self._services.database),
        )

    def _record(self, inside: str, request: Request, report: ContextReport) -> None:
        """Record a request that is being sent. inside: the row of the agent call that sends it; may be empty."""
        tool_call = UUID(inside) if inside else None
        self._requests.record(request.sent_messages, datetime.now(UTC), tool_call=tool_call, report=report)
        if not inside:
            self._completion.window_usage.record(report.context)

    def _record_usage(self, request: Request, usage: TokenUsage) -> None:
        if reported := ReportedRequest.compare(request, usage):
            self._reported.append(reported)

    def _outcome(self, answering: asyncio.Task[None]) -> AttemptOutcome:
        if self._cancel_reason == "stopped":
            return AttemptOutcome(Status.STOPPED)
        if self._cancel_reason in _CANCEL_ERRORS:
            return AttemptOutcome(Status.FAILED, run_error(_CANCEL_ERRORS[self._cancel_reason]))
        failure = answering.exception()
        if failure is None:
            return AttemptOutcome(Status.COMPLETED)
        if isinstance(failure, LoadingTimeout):
            logger.warning("the attempt was not loaded: %s", failure)
            return AttemptOutcome(Status.FAILED, run_error("deadline_exceeded"))
        if isinstance(failure, ModelFailed):
            logger.warning("the attempt failed in cycle %s: %s", self._state.cycles, failure)
            failed = failure.redacted()
            return AttemptOutcome(Status.FAILED, run_error(failed.code, failed.option), failed.upstream_error)
        logger.error("the attempt broke in cycle %s", self._state.cycles, exc_info=failure)
        return AttemptOutcome(Status.FAILED, run_error("internal_error"))

    def _measure_stop(self) -> None:
        counters.stop_appended(self._cancel_reason, self._loop.time() - self._cancelled_at)

    def _address(self) -> RunAddress:
        return RunAddress(
            session=str(self.run.turn.session_id),
            run=str(self.run.pk),
            attempt=self.run.attempt,
            model_index=self.run.model_index,
        )
