"""The last phase of an attempt: commits the end, appends `stop`, announces it; or lets the run wait, or releases it.

Every write is fenced by the attempt. A crash between two of the steps is completed by the sweeper.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from django.conf import settings
from redis.exceptions import RedisError

from chat.log.producer import StaleAttempt
from chat.log.rebuilt import present_stored
from chat.log.stream import event_log, expire_soon
from chat.metrics import counters
from chat.models import Run, ToolCall
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.protocol.upstream_error import NO_UPSTREAM_ERROR, UpstreamError
from chat.protocol.wire import Error
from chat.runs.orphans import publish_end_above
from chat.transcript.citations import linked_documents
from chat.transcript.finish import WHOLE
from chat.transcript.token_usage import TokenUsage
from llm_worker.attempt.attempt_phases import BriefedAttempt, OpenedAttempt
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
from llm_worker.loop.brief import EarlierProgress
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.state import RunState
from llm_worker.loop.stored_round import NewRound
from llm_worker.records.context_usage import ContextUsage
from llm_worker.records.window_usage import WindowUsage
from llm_worker.stream.arguments import parse_partial_arguments

# Of the call that was being written. Without a response, so that no later request repeats it.
_NEVER_RAN: Final = CallResult("unknown", "")


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
        return _ended(opened, opened.emitter(RunState()), outcome, EarlierProgress())
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
    emitter.show(emitter.blocks.tool_arguments(0, call.arguments, str(row.pk)))
    emitter.show(emitter.blocks.close())
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
