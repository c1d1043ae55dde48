"""Sends the events of a run to a frontend: live, joined later, or of a run that has ended."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from msgspec import json

from chat.infrastructure.background import in_thread
from chat.log.rebuilt import FROM_THE_BEGINNING, packets_after, rebuild_packets, rebuild_rounds
from chat.models import ChatMessage, Run, ToolCall, run_of
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from features.agui.events import SNAPSHOT, Event, ShownAnswer
from features.agui.interrupts import open_interrupts
from features.agui.run_input import Around
from features.agui.threads import Joined, load_around
from features.openai.response_parts import load_run
from features.openai.responses import caller_functions, first_block
from features.openai.sse import CHECK_S, COMMENT, FAILURES, EventStream, Reader, read_log
from web.rest.errors import describe as describe_error

PROTOCOL_VERSION: Final = "1.0"
# Until the first look at a run whose calls ask their user: whether it waits by now. Each next one is after twice the time.
_LOOK_S: Final = 0.25


def stream_run(reader: Reader, joined: Joined) -> EventStream:
    """Return the response that sends the events, one in each write. A disconnect stops nothing."""
    return EventStream(_encode(reader, joined), reader.slot)


async def _encode(reader: Reader, joined: Joined) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(_follow(reader, joined)) as events:
            async for event in events:
                yield COMMENT if event is None else _line(event)
    except FAILURES as error:
        described = describe_error(error)
        yield _line({"type": "RUN_ERROR", "message": described.message, "code": described.code})


def _line(event: Event) -> bytes:
    return b"data: %s\n\n" % json.encode(event)


async def _follow(reader: Reader, joined: Joined) -> AsyncGenerator[Event | None, None]:
    """Yield the events of the run until it ends or waits for its user; None in times of silence."""
    answer = await in_thread(_open, joined.run)
    followed = _FollowedRun(reader, joined, answer)
    ids = {"threadId": joined.thread, "runId": joined.name}
    run = joined.run
    about = {"session": str(run.turn.session_id), "run": str(run.pk), "response": f"resp_{run.pk.hex}"}
    yield {"type": "RUN_STARTED", **ids, "protocolVersion": PROTOCOL_VERSION, "metadata": {"turnwire": about}}
    around = joined.around
    async with aclosing(followed.read()) as events:
        async for event in events:
            if event is not None and event["type"] == SNAPSHOT:
                if around is None:
                    around = await in_thread(_load_around, joined.run, answer)
                event["messages"] = [*around.before, *event["messages"], *around.behind]
                if around.is_cut:
                    event["metadata"] = {"turnwire": {"isCut": True}}
            yield event
    run = await in_thread(load_run, joined.run)
    for interrupt in followed.waits_for:
        if call := answer.asked.get(interrupt.pop("toolCallId", "")):
            interrupt["toolCallId"] = call
    for event in answer.close(is_completed=run.status == Status.COMPLETED):
        yield event
    if run.is_live and not followed.waits_for:
        raise ApiError("stream_unavailable")
    end = _describe_end(run, answer, joined, followed.waits_for)
    yield end if end["type"] == "RUN_ERROR" else {**end, **ids}


class _FollowedRun:
    """A run that is read until it has ended, or waits for its user. waits_for: the interrupts then."""

    def __init__(self, reader: Reader, joined: Joined, answer: ShownAnswer) -> None:
        self._reader, self._joined, self._shown = reader, joined, answer
        self._run = joined.run
        self._looks = 0  # since something came
        self.waits_for: list[dict[str, Any]] = []

    async def read(self) -> AsyncGenerator[Event | None, None]:
        """Yield the events of what is shown; None in times of silence. Raises ApiError if it cannot be read on."""
        if not (self._joined.is_new and self._run.is_live):
            for event in await in_thread(_join, self._shown, self._run):
                yield event
        if self._run.is_live and not self._shown.has_stopped:
            async with aclosing(self._read_on()) as events:
                async for live_event in events:
                    yield live_event

    async def _read_on(self) -> AsyncGenerator[Event | None, None]:
        async with aclosing(read_log(self._reader, self._run, self._silence_s)) as entries:
            async for entry in entries:
                self._looks = self._looks + 1 if entry is None else 0
                if entry is None:
                    if self._may_wait():
                        self.waits_for = await in_thread(open_interrupts, self._run)
                    yield None
                else:
                    for event in self._shown.feed(entry):
                        yield event
                if self.waits_for or self._shown.has_stopped:
                    return
        raise ApiError("stream_unavailable")

    def _silence_s(self) -> float:
        return min(CHECK_S, _LOOK_S * 2 ** min(self._looks, 10)) if self._may_wait() else CHECK_S

    def _may_wait(self) -> bool:
        return self._shown.is_waiting or self._run.status == Status.WAITING


def _open(run: Run) -> ShownAnswer:
    return ShownAnswer(run.pk, caller_functions(run), first_block(run))


def _join(answer: ShownAnswer, run: Run) -> list[Event]:
    """Return the events that show a run as far as it has come. A thread folds its log, which may be long."""
    # The log of a run that has ended may have lost something.
    lines = packets_after(run, FROM_THE_BEGINNING).lines if run.is_live else rebuild_packets(run)
    return list(answer.join(map(p.decode_log_entry, lines)))


def _load_around(run: Run, answer: ShownAnswer) -> Around:
    around = load_around(run, _show_answer)
    before = [*around.before, *_show_given(run)]
    return around._replace(before=before, behind=_show_outputs(run, answer))


def _show_answer(message: ChatMessage) -> list[Any]:
    """Return the messages of an answer that has ended. One that was edited, or is a summary, is a text."""
    written_by = run_of(message)
    run = Run.objects.for_work().filter(pk=written_by.pk).first() if written_by else None
    if run is None or run.is_live:
        return [{"id": str(message.pk), "role": "assistant", "content": message.text}]
    answer = _open(run)
    _join(answer, run)
    return [*_show_given(run), *answer.messages, *_show_outputs(run, answer)]


def _show_given(run: Run) -> list[Any]:
    """Return the calls of an earlier answer whose outputs the run was given, as messages of the run."""
    answer = ShownAnswer(run.pk, place="-0-given")
    if count := run.turn.given_rounds:
        deque(answer.join(map(p.decode_log_entry, rebuild_rounds(run, count))), maxlen=0)
    return answer.messages


def _show_outputs(run: Run, answer: ShownAnswer) -> list[Any]:
    """Return the outputs of the calls that were handed over, as far as they came with a later question."""
    later = ToolCall.objects.with_later_outputs(run).values_list("tool_call_id", "response")
    outputs = dict(later) if answer.pending else {}
    return [
        {"id": f"{name}-result", "role": "tool", "toolCallId": name, "content": outputs[call]}
        for name in answer.pending
        if (call := name.split("-", 2)[2]) in outputs
    ]


def _describe_end(run: Run, answer: ShownAnswer, joined: Joined, waits_for: list[dict[str, Any]]) -> Event:
    """Return the last event of the stream. A run that was joined has told its tokens to somebody else already."""
    usage = {"usage": [_usage(run)]} if joined.is_new and run.prompt_tokens is not None else {}
    finished: Event = {"type": "RUN_FINISHED", **usage}
    if waits_for:
        return {**finished, "outcome": {"type": "interrupt", "interrupts": waits_for}}
    if run.status == Status.STOPPED:
        return {**finished, "outcome": {"type": "cancelled"}}
    if run.error_code:
        return {"type": "RUN_ERROR", "message": run.error_message, "code": run.error_code, **usage}
    outcome: dict[str, Any] = {"type": "success"}
    if answer.pending:
        outcome["pendingToolCallIds"] = answer.pending
    cut = run.visible_finish.cut_reason
    return {**finished, "outcome": outcome, **({"metadata": {"finishReason": cut}} if cut else {})}


def _usage(run: Run) -> dict[str, Any]:
    counts = {
        "inputTokens": run.prompt_tokens,
        "outputTokens": run.completion_tokens,
        "totalTokens": (run.prompt_tokens or 0) + (run.completion_tokens or 0),
        "reasoningTokens": run.reasoning_tokens,
        "cachedInputTokens": run.cached_tokens,
    }
    return {"model": run.model, **{name: count for name, count in counts.items() if count is not None}}
