"""Attempt: one attempt at a run, from claim to end. Runs the loop and knows why it may be cancelled.

attempt_phases.py has the steps; loop/loop.py continues what earlier attempts left.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from django.conf import settings
from redis.exceptions import RedisError

from chat.infrastructure.revocation import is_revoked, part_of
from chat.log.publisher import Publisher
from chat.metrics import counters
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.protocol.wire import RunAddress
from chat.transcript.dialect import UNTAGGED_THINKING
from chat.transcript.rebuild import documents_of
from llm_worker.attempt.attempt_phases import (
    AttemptOutcome,
    BriefedAttempt,
    OpenedAttempt,
    end_briefed,
    end_opened,
    release,
    wait_for_approval,
)
from llm_worker.attempt.checkpointer import CheckpointTracker
from llm_worker.attempt.fenced_writes import Waiting
from llm_worker.attempt.round_store import DatabaseRoundStore
from llm_worker.database import Database, LoadingTimeout
from llm_worker.loading.build_brief import build_brief, load_opening
from llm_worker.loading.claim import Claim
from llm_worker.loading.sources import RunKnowledge, SessionSources
from llm_worker.loop.calls import ApprovalNeeded
from llm_worker.loop.deps import LoopDeps
from llm_worker.loop.loop import run_llm_loop
from llm_worker.records.request_log import RequestLog
from llm_worker.records.server_traits import DialectMemory, TokenCalibration
from llm_worker.request.numbered_documents import Numbering
from llm_worker.side_requests.query_expansion import QueryExpansion
from llm_worker.side_requests.safe_summary import SafeSummaries
from llm_worker.tools.fair_slots import USER
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels
from llm_worker.worker_part import WorkerPart

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
    """The services that the attempts of a worker process share. parts: those of the features."""

    database: Database
    publisher: Publisher
    models: LanguageModels
    request_log: RequestLog
    calibration: TokenCalibration
    dialects: DialectMemory
    parts: Sequence[WorkerPart]
    # A hundred runs that start together must not open a hundred Redis connections for one question each.
    redis_questions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))


class Attempt:
    """One attempt at a run, on the event loop. It goes from phase to phase (attempt_phases.py)."""

    def __init__(self, claim: Claim, services: WorkerServices, leased_at: float) -> None:
        """Open the packet log. leased_at: a time on the loop's clock, not after the lease began."""
        self.run = run = claim.run
        self.leased_at = leased_at
        self._claim = claim
        self._services = services
        self._loop = asyncio.get_running_loop()
        address = RunAddress(str(run.turn.session_id), str(run.pk), run.attempt, run.model_index)
        producer = services.publisher.open(address, on_stale=lambda: self.cancel("stale"))
        self._opened = OpenedAttempt(run, producer, leased_at)
        self._briefed: BriefedAttempt | None = None  # as long as nothing was asked
        self._answering: asyncio.Task[None] | None = None
        self._cancel_reason: CancelReason | None = None
        self._cancelled_at = 0.0

    @property
    def checkpoint(self) -> CheckpointTracker | None:
        """The checkpoints of the answer; None before it is asked for, and when its end is saved instead."""
        is_answering = self._answering is not None and not self._answering.done()
        return self._briefed.checkpoint if self._briefed and is_answering else None

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that the run was offered; none before it is known which."""
        return self._briefed.brief.tools if self._briefed else ()

    def extend_lease(self, leased_at: float) -> None:
        """Note that a heartbeat has extended the lease. leased_at: a time on the loop's clock, not after that."""
        self.leased_at = leased_at

    async def carry_out(self) -> bool:
        """Answer and end the run, or let it wait for its user. False: another worker must be woken to go on."""
        self._answering = asyncio.create_task(self._answer(), name=f"run {self.run.pk}")
        try:
            if self._cancel_reason:  # cancelled before it started
                self._answering.cancel()
            await asyncio.wait({self._answering}, timeout=self.run.expires_in_s)
            self.cancel("deadline")
            await asyncio.wait({self._answering})
            if self._cancel_reason in ("released", "stale"):
                return not await release(self._opened, self._briefed, self._services.database)
            is_uncancelled = self._cancel_reason is None
            if self._briefed and is_uncancelled and isinstance(self._answering.exception(), ApprovalNeeded):
                return await self._wait_for_approval(self._briefed)
            if self._cancel_reason != "lost":
                await self._end(self._outcome(self._answering))
        finally:
            self._answering.cancel()
            self._opened.producer.discard()
            if self._briefed:
                self._services.request_log.keep(self.run, self._briefed.requests.take())
        if self._briefed and self.run.model_config:
            await self._services.calibration.take(self.run.model_config, self._briefed.reported)
        return True

    async def _wait_for_approval(self, briefed: BriefedAttempt) -> bool:
        """Let the run wait for its user. False: the user has decided meanwhile, and another worker must be woken."""
        became = await wait_for_approval(briefed, self._services.database)
        if became == Waiting.STOPPING:
            await self._end(AttemptOutcome(Status.STOPPED))
        return became != Waiting.DECIDED

    async def _end(self, outcome: AttemptOutcome) -> None:
        database = self._services.database
        if self._briefed:
            ended = end_briefed(self._briefed, outcome)
        else:
            ended = await end_opened(self._opened, database, outcome)
        await ended.commit(database, self._measure_stop)

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
        run, database = self.run, self._services.database
        USER.set(run.turn.session.owner_id)
        if run.attempt > 1 and (saved := await database.load(load_opening, run)):
            self._opened = self._opened.continue_from(saved)
        if run.attempt == 1:
            self._opened.show_start()
        # The stop may have been requested before the process listened for this run.
        await self.check_revoked()
        brief = self._claim.brief
        if brief is None:
            brief = await database.load(build_brief, run, self._claim.rows)
        # The rows of a long branch must not stay in memory for as long as the answer takes.
        self._claim = self._claim._replace(brief=None, rows=None)
        if run.attempt > 1:
            self._opened.show_start()
        self._briefed = briefed = BriefedAttempt.begin(self._opened, brief)
        await run_llm_loop(brief, self._deps(briefed), briefed.emitter)
        state, dialects = briefed.emitter.state, self._services.dialects
        if state.has_untagged_thinking:
            await dialects.remember(brief.model, frozenset({UNTAGGED_THINKING}))
        elif state.has_marked_reasoning:
            await dialects.forget(brief.model, UNTAGGED_THINKING)

    def _deps(self, briefed: BriefedAttempt) -> LoopDeps:
        run, brief, services = self.run, briefed.brief, self._services
        return LoopDeps(
            models=services.models,
            store=DatabaseRoundStore(
                run, services.database, briefed.checkpoint, briefed.allowance, lambda: self.cancel("lost")
            ),
            numbering=Numbering(
                brief.highest_number, [*brief.known_documents, *documents_of(brief.earlier.rounds)]
            ),
            allowance=briefed.allowance,
            # The time of the turn, so that a second attempt sends the same.
            now=run.turn.created_at,
            tool_limit_s=settings.TOOL_TIMEOUT_S,
            on_request=briefed.record,
            on_usage=briefed.record_usage,
            on_tool_call=counters.tool_call_ended,
            sources=SessionSources(run.turn.session),
            knowledge=RunKnowledge(run, SafeSummaries(run, services.models, services.database)),
            parts=services.parts,
            rewrite_queries=QueryExpansion(run, services.models, services.database),
        )

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
        cycles = self._briefed.emitter.state.cycles if self._briefed else 0
        if isinstance(failure, ModelFailed):
            logger.warning("the attempt failed in cycle %s: %s", cycles, failure)
            failed = failure.redacted()
            return AttemptOutcome(Status.FAILED, run_error(failed.code, failed.option), failed.upstream_error)
        logger.error("the attempt broke in cycle %s", cycles, exc_info=failure)
        return AttemptOutcome(Status.FAILED, run_error("internal_error"))

    def _measure_stop(self) -> None:
        counters.stop_appended(self._cancel_reason, self._loop.time() - self._cancelled_at)
