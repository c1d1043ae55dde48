"""AttemptCompletion: the end of one attempt. Commits the result, appends `stop`, announces it; or releases the run.

Every write is fenced by the attempt. A crash between two of the steps is completed by the sweeper.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from django.conf import settings
from redis.exceptions import RedisError

from chat.log.producer import PacketProducer, StaleAttempt
from chat.log.rebuilt import present_stored
from chat.log.stream import event_log, expire_soon
from chat.metrics import counters
from chat.metrics.counters import NO_USAGE
from chat.models import Run, ToolCall
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.protocol.upstream_error import NO_UPSTREAM_ERROR, UpstreamError
from chat.protocol.wire import Error
from chat.runs.orphans import publish_end_above
from chat.transcript.citations import linked_documents
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.token_usage import TokenUsage
from llm_worker.attempt.checkpoint_tracker import CheckpointTracker
from llm_worker.attempt.fenced_writes import Waiting, announce_end, finish_run, let_wait, release_run
from llm_worker.attempt.round_store import row_of
from llm_worker.database import Database
from llm_worker.loading.build_brief import load_saved_answer_and_citations
from llm_worker.loop.allowance import Allowance
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


@dataclass
class AttemptCompletion:
    """Ends one attempt. started_at: when the attempt began, on the event loop's clock.

    is_opened: readers were shown a snapshot of what earlier attempts saved.  has_resumed: the attempt has loaded what
    earlier attempts left, so that its own state includes it.  counted_before, finish_before: usage and finish at the
    run's first end, if the user let it go on.  allowance: counts what the run uses; None before it asks a model.
    """

    run: Run
    database: Database
    producer: PacketProducer
    emitter: Emitter
    state: RunState
    checkpoint: CheckpointTracker
    started_at: float
    window_usage: WindowUsage = field(default_factory=lambda: WindowUsage(1.0))
    is_opened: bool = False
    has_resumed: bool = False
    counted_before: TokenUsage = NO_USAGE
    finish_before: Finish = WHOLE
    allowance: Allowance | None = None

    async def end(self, outcome: AttemptOutcome, on_stop_logged: Callable[[], None]) -> None:
        """Commit the end, append the last packets, then announce. on_stop_logged: called once `stop` is in the log."""
        end = await self.database.call_with_retry(finish_run, self.run, await self._result(outcome))
        if end is None:
            return
        counters.run_ended(self.run.model, end, self.counted_before)
        if self.state.has_untagged_thinking:
            stored = await self.database.call_with_retry(present_stored, self.run)
            self.producer.replace_shown(stored)
        is_untold = end.status == Status.FAILED and not self.run.continuations
        self.producer.log = self.producer.log.as_ending()
        self.emitter.stop(end.stop_reason, end.error, WHOLE if is_untold else end.finish)
        try:
            await self.producer.flush()
        except StaleAttempt as stale:
            await self.database.call_with_retry(publish_end_above, self.run, stale.owner)
            return
        on_stop_logged()
        is_failed = end.status == Status.FAILED
        wanted = None if is_failed else self.window_usage.wanted_compression(end.text)
        await self.database.call_with_retry(announce_end, self.run, wanted)

    async def let_wait(self) -> Waiting:
        """Save the answer so far and let the run wait for its user without a worker.

        Readers have already been told what its calls ask.
        """
        self.emitter.show_deferred()
        try:
            await self.producer.flush()
        except StaleAttempt:
            return Waiting.DECIDED if await self.release() else Waiting.LOST
        state, held = self.state, self.checkpoint.take()
        became = await self.database.call_with_retry(let_wait, held, state.usage, state.cycles)
        if became == Waiting.WAITING:
            with suppress(RedisError):  # the logs then expire later
                await expire_soon(self.producer.log, event_log(self.run.turn.session_id))
        return became

    async def release(self) -> bool:
        """Save the answer so far and put the run back into the queue. False: it was stopped meanwhile, or lost."""
        held = self.checkpoint.take()
        self.producer.discard()
        return await self.database.call_with_retry(release_run, held, self.producer.stale_for)

    async def _result(self, outcome: AttemptOutcome) -> RunOutcome:
        """Return the outcome to commit. Emits all packets but the error and `stop`."""
        if self.run.attempt > 1 and not self.has_resumed:
            await self._restore_saved_answer()
        never_ran = end_interrupted_call(self.run, self.emitter)
        self.emitter.end()
        state, first, cited = self.state, self.state.first_token_at, self.emitter.cited.values()
        # Citations in text that became reasoning are dropped; a snapshot before the end shows readers the rest.
        replaced = state.has_untagged_thinking
        return RunOutcome(
            status=outcome.status,
            last_seq=self.producer.settle() + replaced + (2 if outcome.error else 1),
            text=state.text,
            reasoning=state.reasoning,
            error=outcome.error,
            upstream_error=outcome.upstream_error,
            usage=state.usage,
            time_to_first_token_ms=None if first is None else round((first - self.started_at) * 1000),
            reasoning_ms=state.latest.reasoning_ms,
            cycles=state.cycles,
            spending=self.allowance.spent if self.allowance else None,
            finish=self._finish(outcome.status),
            citations=tuple(linked_documents(state.text, cited) if replaced else cited),
            # Calls of an earlier attempt may be open too, if this one ended before it resumed them.
            has_open_calls=state.has_called or self.run.attempt > 1,
            reports={row: inner.latest[:2] for row, inner in state.reports.items()},
            never_ran=never_ran,
            setup=self.checkpoint.setup,
            context_usage=ContextUsage(
                self.window_usage, settings.COMPRESSION_TRIGGER_RATIO, settings.RECENT_MESSAGES_RATIO
            ).as_json,
        )

    def has_counted(self, usage: TokenUsage, finish: Finish) -> None:
        """Note what the run's earlier attempts used."""
        if self.run.continuations:
            self.counted_before, self.finish_before = usage, finish

    def _finish(self, status: Status) -> Finish:
        """Return how the answer finished. A failed continuation leaves it cut, so that users can try it again."""
        return (
            self.state.finish if self.state.finish.reason or status != Status.FAILED else self.finish_before
        )

    async def _restore_saved_answer(self) -> None:
        """Load the saved answer: an attempt that ends before it has resumed must neither hide nor overwrite it."""
        snapshot, cited, counts = await self.database.call_with_retry(
            load_saved_answer_and_citations, self.run
        )
        self.state.usage, self.state.cycles = counts.usage, counts.cycles
        self.has_counted(counts.usage, counts.finish)
        if not self.is_opened:
            self.producer.open_with_snapshot(snapshot)
        self.emitter.restore(snapshot.message["text"], self.run.message.reasoning)
        self.emitter.cited.update({document.number: document for document in cited})


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
