"""The phases of an attempt, as immutable values, each made from the one before: opened, briefed, ended.

An attempt that is cancelled before it is briefed ends from the first. Every write is fenced by the attempt; a crash
between two steps of the end is completed by the sweeper.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple, Self
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from chat.log.producer import PacketProducer, StaleAttempt
from chat.log.rebuilt import present_stored
from chat.log.stream import event_log, expire_soon
from chat.metrics import counters
from chat.models import Run, ToolCall
from chat.models.outcome import RunOutcome
from chat.models.run_fields import run_limits
from chat.protocol.errors import NO_UPSTREAM_ERROR, UpstreamError
from chat.protocol.states import Status
from chat.protocol.wire import Error, Snapshot
from chat.runs.orphans import publish_end_above
from chat.transcript.answer_settings import asks_for_json
from chat.transcript.citations import linked_documents
from chat.transcript.dialect import UNTAGGED_THINKING
from chat.transcript.finish import WHOLE
from chat.transcript.packets import Blocks
from chat.transcript.usage import TokenUsage
from llm_worker.attempt.checkpointer import CheckpointTracker
from llm_worker.attempt.fenced_writes import (
    Checkpoint,
    Waiting,
    announce_end,
    finish_run,
    let_wait,
    release_run,
)
from llm_worker.attempt.round_store import row_of
from llm_worker.database import Database
from llm_worker.loading.build_brief import load_saved_answer_and_citations
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief, EarlierProgress
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.context_report import ContextReport
from llm_worker.loop.deps import NewRound
from llm_worker.loop.emitter import AnswerForm, Emitter
from llm_worker.loop.state import RunState
from llm_worker.records.context_usage import ContextUsage, WindowUsage
from llm_worker.records.request_log import RequestRecorder
from llm_worker.records.server_traits import ReportedRequest
from llm_worker.stream.call_assembler import parse_partial_arguments
from llm_worker.upstream.model_request import Request

# Of the call that was being written. Without a response, so that no later request repeats it.
_NEVER_RAN: Final = CallResult("unknown", "")


@dataclass(frozen=True)
class OpenedAttempt:
    """A claimed run, whose packet log this attempt writes.

    started_at: a time on the event loop's clock, not after the lease began.  is_shown: readers see what earlier
    attempts saved, in the snapshot that opened the log.
    """

    run: Run
    producer: PacketProducer
    started_at: float
    is_shown: bool = False

    def continue_from(self, snapshot: Snapshot) -> Self:
        """Open the log with what earlier attempts saved."""
        self.producer.open_with_snapshot(snapshot)
        return replace(self, is_shown=True)

    def show_start(self) -> None:
        for placement, packet in self._blocks().run_start(self.run.model):
            self.producer.emit(placement, packet)

    def emitter(self, state: RunState, *, is_json: bool = False, is_untagged: bool = False) -> Emitter:
        form = AnswerForm(settings.MAX_RUN_CHARACTERS, is_json=is_json, is_untagged=is_untagged)
        return Emitter(self.producer, state, self._blocks(), asyncio.get_running_loop().time, form)

    def _blocks(self) -> Blocks:
        return Blocks(model_index=self.run.model_index)


@dataclass(frozen=True)
class BriefedAttempt:
    """An attempt with everything that its loop needs. What the loop leaves to be saved is in the state of the emitter.

    requests, reported: the requests that were sent, and those whose tokens the server has counted.
    """

    opened: OpenedAttempt
    brief: Brief
    emitter: Emitter
    checkpoint: CheckpointTracker
    allowance: Allowance
    window_usage: WindowUsage
    requests: RequestRecorder = field(default_factory=RequestRecorder)
    reported: list[ReportedRequest] = field(default_factory=list)

    @classmethod
    def begin(cls, opened: OpenedAttempt, brief: Brief) -> Self:
        state = RunState(usage=brief.earlier.usage, cycles=brief.earlier.cycles)
        emitter = opened.emitter(
            state,
            is_json=asks_for_json(brief.options),
            is_untagged=UNTAGGED_THINKING in brief.model.dialect,
        )
        return cls(
            opened,
            brief,
            emitter,
            CheckpointTracker(opened.run, emitter, opened.producer, opened.started_at, brief.setup),
            Allowance(run_limits(), brief.earlier.spent),
            WindowUsage(settings.COMPRESSION_TRIGGER_RATIO, brief),
        )

    def record(self, inside: str, request: Request, report: ContextReport) -> None:
        """Record a request that is being sent. inside: the row of the agent call that sends it; may be empty."""
        tool_call = UUID(inside) if inside else None
        self.requests.record(request.sent_messages, datetime.now(UTC), tool_call=tool_call, report=report)
        if not inside:
            self.window_usage.record(report.context)

    def record_usage(self, request: Request, usage: TokenUsage) -> None:
        if reported := ReportedRequest.compare(request, usage):
            self.reported.append(reported)


class AttemptOutcome(NamedTuple):
    """How an attempt ended."""

    status: Status
    error: Error | None = None
    upstream_error: UpstreamError = NO_UPSTREAM_ERROR


@dataclass(frozen=True)
class EndedAttempt:
    """An attempt that has shown everything but the error and `stop`, with what is stored of it.

    counted_before: the usage at the run's first end, if the user let it go on.  window_usage: None if it was not briefed.
    """

    opened: OpenedAttempt
    emitter: Emitter
    outcome: RunOutcome
    counted_before: TokenUsage
    window_usage: WindowUsage | None = None

    async def commit(self, database: Database, on_stop_logged: Callable[[], None]) -> None:
        """Commit the end, append the last packets, then announce. on_stop_logged: called once `stop` is in the log."""
        run, producer = self.opened.run, self.opened.producer
        end = await database.call_with_retry(finish_run, run, self.outcome)
        if end is None:
            return
        counters.run_ended(run.model, end, self.counted_before)
        if self.emitter.state.has_untagged_thinking:
            producer.replace_shown(await database.call_with_retry(present_stored, run))
        is_failed = end.status == Status.FAILED
        is_untold = is_failed and not run.continuations
        producer.log = producer.log.as_ending()
        self.emitter.stop(end.stop_reason, end.error, WHOLE if is_untold else end.finish)
        try:
            await producer.flush()
        except StaleAttempt as stale:
            await database.call_with_retry(publish_end_above, run, stale.owner)
            return
        on_stop_logged()
        window_usage = None if is_failed else self.window_usage
        wanted = window_usage.wanted_compression(end.text) if window_usage else None
        await database.call_with_retry(announce_end, run, wanted)


def end_briefed(briefed: BriefedAttempt, outcome: AttemptOutcome) -> EndedAttempt:
    ended = _ended(briefed.opened, briefed.emitter, outcome, briefed.brief.earlier)
    stored = replace(
        ended.outcome,
        spending=briefed.allowance.spent,
        setup=briefed.checkpoint.unsaved_setup,
        context_usage=ContextUsage(
            briefed.window_usage, settings.COMPRESSION_TRIGGER_RATIO, settings.RECENT_MESSAGES_RATIO
        ).as_json,
    )
    return replace(ended, outcome=stored, window_usage=briefed.window_usage)


async def end_opened(opened: OpenedAttempt, database: Database, outcome: AttemptOutcome) -> EndedAttempt:
    """End an attempt before it is briefed: it neither hides nor overwrites what earlier attempts saved."""
    if opened.run.attempt == 1:
        emitter = opened.emitter(RunState())
        if opened.run.turn.given_rounds:
            saved, cited, _ = await database.call_with_retry(load_saved_answer_and_citations, opened.run)
            emitter.restore(saved.message["text"], "", cited)
        return _ended(opened, emitter, outcome, EarlierProgress())
    snapshot, cited, earlier = await database.call_with_retry(load_saved_answer_and_citations, opened.run)
    if not opened.is_shown:
        opened.producer.open_with_snapshot(snapshot)
    emitter = opened.emitter(RunState(usage=earlier.usage, cycles=earlier.cycles))
    emitter.restore(snapshot.message["text"], opened.run.message.reasoning, cited)
    return _ended(opened, emitter, outcome, earlier)


def _ended(
    opened: OpenedAttempt, emitter: Emitter, outcome: AttemptOutcome, earlier: EarlierProgress
) -> EndedAttempt:
    run, state, cited = opened.run, emitter.state, emitter.cited.values()
    before = earlier if run.continuations else EarlierProgress()
    never_ran = end_interrupted_call(run, emitter)
    emitter.end()
    first = state.first_token_at
    # A failed continuation leaves the answer cut, so that users can try it again.
    is_cut_as_before = outcome.status == Status.FAILED and not state.finish.reason
    # Citations in text that became reasoning are dropped; a snapshot before the end shows readers the rest.
    replaced = state.has_untagged_thinking
    stored = RunOutcome(
        status=outcome.status,
        last_seq=opened.producer.settle() + replaced + (2 if outcome.error else 1),
        text=state.text,
        reasoning=state.reasoning,
        error=outcome.error,
        upstream_error=outcome.upstream_error,
        usage=state.usage,
        time_to_first_token_ms=None if first is None else round((first - opened.started_at) * 1000),
        reasoning_ms=state.latest.reasoning_ms,
        cycles=state.cycles,
        finish=before.finish if is_cut_as_before else state.finish,
        citations=tuple(linked_documents(state.text, cited) if replaced else cited),
        # Readers were handed them over, also if a stop is stored before this end.
        hands_over=outcome.status == Status.COMPLETED,
        # Calls of an earlier attempt may be open too, if this one ended before it resumed them.
        has_open_calls=state.has_called or run.attempt > 1,
        reports={row: inner.latest[:2] for row, inner in state.reports.items()},
        never_ran=never_ran,
    )
    return EndedAttempt(opened, emitter, stored, before.usage)


def end_interrupted_call(run: Run, emitter: Emitter) -> list[ToolCall]:
    """Close the call that readers saw being written; return its row, to be stored. Empty if no call was being written.

    It never ran and is not resumed. With the arguments received so far, a reload shows the same.
    """
    written, state = emitter.preview, emitter.state
    if written is None:
        return []
    call = PlannedCall(
        written.id,
        written.name,
        parse_partial_arguments("".join(written.pieces)),
        tool=None,
        result=_NEVER_RAN,
    )
    new_round = NewRound(len(state.passages) - 1, [call], state.latest, inside="")
    row = row_of(run, new_round, 0, call)
    emitter.calls_are_stored()
    emitter.open_round()
    emitter.show(Blocks.tool_arguments, 0, call.arguments, str(row.pk))
    emitter.show(Blocks.close)
    return [row]


async def wait_for_approval(briefed: BriefedAttempt, database: Database) -> Waiting:
    """Save the answer so far and let the run wait for its user without a worker.

    Readers have already been told what its calls ask.
    """
    producer, state = briefed.opened.producer, briefed.emitter.state
    briefed.emitter.show_deferred()
    try:
        await producer.flush()
    except StaleAttempt:
        return Waiting.DECIDED if await release(briefed.opened, briefed, database) else Waiting.LOST
    checkpoint = briefed.checkpoint.build()
    became = await database.call_with_retry(let_wait, checkpoint, state.usage, state.cycles)
    if became == Waiting.WAITING:
        with suppress(RedisError):  # the logs then expire later
            await expire_soon(producer.log, event_log(briefed.opened.run.turn.session_id))
    return became


async def release(opened: OpenedAttempt, briefed: BriefedAttempt | None, database: Database) -> bool:
    """Save the answer so far and put the run back into the queue. False: it was stopped meanwhile, or lost."""
    checkpoint = briefed.checkpoint.build() if briefed else Checkpoint(opened.run, 0, "", "", pieces=0)
    opened.producer.discard()
    return await database.call_with_retry(release_run, checkpoint, opened.producer.stale_for)
