"""The events of a response for one reader, whichever attempts write its answer. Pure.

The protocol has no `reset`. What a new attempt shows again is compared with what was shown, and not sent: where it goes
on, so do the events. If it shows anything else, the response ends as failed; nothing that was shown is taken back.
An attempt may correct itself by a snapshot: a correction of what was shown is not sent, nor what the attempt shows after it,
but where the part ends.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from msgspec import json

from chat.protocol import wire as p
from chat.protocol.errors import run_error
from chat.transcript.entries import Document
from chat.transcript.packets import COMPLETED, HANDED_OVER, Blocks, Placed
from chat.transcript.rebuild import ShownCall, ShownRound, show_before, show_call, show_outcome
from chat.transcript.waits import Wait
from features.openai.response_events import Event, ResponseEnd, ResponseEvents

_LOST: Final = "worker_lost"
_FINAL: Final = ("response.completed", "response.incomplete", "response.failed")
# Values of chat.models.ToolCallStatus, of calls that have not ended.
_WAITING: Final = "waiting"
_OPEN: Final = ("running", _WAITING)


class EncodedEvent(NamedTuple):
    """An event, and its members in JSON."""

    members: Event
    data: bytes

    @property
    def number(self) -> int:
        return int(self.members["sequence_number"])

    @property
    def type(self) -> str:
        return str(self.members["type"])


class _ContradictionFound(Exception):
    """An attempt shows something else than the ones before."""


class ResponseStream:
    """Call begin() once, feed() for each entry of the run's log, and end() when `stop` was fed.

    Before an entry of which has_asked() is true, set_waits() notes the waits of the run as they are stored by then.
    is_ended: the last event was sent.
    """

    def __init__(self, begin_attempt: Callable[[], ResponseEvents], waits: Sequence[Wait] = ()) -> None:
        self._begin_attempt = begin_attempt
        self._waits = waits
        self._stored_round = 0, 0  # the attempt and turn_index of a round whose waits were noted
        self._shown = self._current = begin_attempt()  # _shown: what wrote the last event
        self._attempt = 0
        # The events of an attempt that has shown a correction. None of them is sent.
        self._corrected: ResponseEvents | None = None
        self._digests = array("q")  # of all events that were sent
        self._has_final = False
        self.is_ended = False
        self._current.set_waits(waits)

    def set_waits(self, waits: Sequence[Wait]) -> None:
        self._waits = waits
        for events in filter(None, (self._current, self._corrected)):
            events.set_waits(waits)

    def has_asked(self, entry: p.Packet | p.Snapshot | p.Reset) -> bool:
        """Return whether calls may have asked their user since the waits were noted: once in a round, and as they run."""
        if isinstance(entry, p.Packet) and entry.placement.sub_turn_index is None:
            stored_round = entry.attempt, entry.placement.turn_index + 1
            is_new = isinstance(entry.obj, p.ToolArguments) and stored_round != self._stored_round
            self._stored_round = stored_round if is_new else self._stored_round
            return is_new or isinstance(entry.obj, p.ApprovalRequired)
        return isinstance(entry, p.Snapshot) and bool(entry.message.get("tool_calls"))

    def begin(self) -> Iterator[EncodedEvent]:
        yield from self._send(self._current.begin())

    def feed(self, entry: p.Packet | p.Snapshot | p.Reset) -> Iterator[EncodedEvent]:
        """Yield the events that follow an entry. Those of an older attempt, and after the end, have none."""
        if self.is_ended or isinstance(entry, p.Reset) or entry.attempt < self._attempt:
            return
        if isinstance(entry, p.Snapshot) and entry.attempt == self._attempt:
            yield from self._correct(entry)
        elif entry.attempt == self._attempt and self._corrected and isinstance(entry, p.Packet):
            deque(self._corrected.show(entry.placement, entry.obj), maxlen=0)
        else:
            yield from self._send(self._events_of(entry))
        if self._corrected and self._corrected.is_over:
            yield from self._send(self._current.break_off())
        self.is_ended = self.is_ended or self._current.is_over

    def _correct(self, snapshot: p.Snapshot) -> Iterator[EncodedEvent]:
        before, self._corrected = self._current, None
        try:
            yield from self._unsent(self._events_of(snapshot))
        except _ContradictionFound:
            self._corrected = self._begin_attempt()
            self._corrected.set_waits(self._waits)
            for placement, obj in snapshot_packets(snapshot.message):
                deque(self._corrected.show(placement, obj), maxlen=0)
            self._current = before

    def end(self, ended: ResponseEnd, stored: Callable[[], Iterator[EncodedEvent]]) -> Iterator[EncodedEvent]:
        """Yield the events that are left.

        stored: returns those of the stored response. An attempt that was stopped before it has shown again what stands
        before this part has no events of it.
        """
        if self.is_ended:
            return
        yield from self._send(self._current.end(ended), ended)
        if not self._has_final:
            yield from self._send((event.members for event in stored()), ended)
        self.is_ended = True

    def _events_of(self, entry: p.Packet | p.Snapshot) -> Iterator[Event]:
        if isinstance(entry, p.Snapshot):
            yield from self._start_over(entry.attempt)
            for placement, obj in snapshot_packets(entry.message):
                yield from self._current.show(placement, obj)
        else:
            if entry.attempt > self._attempt:
                yield from self._start_over(entry.attempt)
            yield from self._current.show(entry.placement, entry.obj)

    def _start_over(self, attempt: int) -> Iterator[Event]:
        """Begin the events of an attempt, unless nothing was shown of another one."""
        is_first, self._attempt, self._corrected = self._attempt == 0, attempt, None
        if not is_first:
            self._current = self._begin_attempt()
            self._current.set_waits(self._waits)
            yield from self._current.begin()

    def _send(self, events: Iterator[Event], ended: ResponseEnd | None = None) -> Iterator[EncodedEvent]:
        """Yield the events that were not sent yet. ended: the events end the response."""
        try:
            yield from self._unsent(events)
        except _ContradictionFound:
            self.is_ended = True
            is_lost = ended is None or ended.status not in ("failed", "cancelled")
            self._current = self._shown
            yield from self._unsent(self._shown.end(lost_end() if ended is None or is_lost else ended))

    def _unsent(self, events: Iterator[Event]) -> Iterator[EncodedEvent]:
        for event in events:
            encoded = EncodedEvent(event, json.encode(event))
            digest = hash(encoded.data)
            if encoded.number < len(self._digests):
                if self._digests[encoded.number] != digest:
                    raise _ContradictionFound
            else:
                self._digests.append(digest)
                self._has_final = encoded.type in _FINAL
                self._shown = self._current
                yield encoded


def may_wait(entry: p.Packet | p.Snapshot | p.Reset) -> bool:
    """Return whether the run may have got to wait with this entry: a call of it asks, or has ended."""
    if isinstance(entry, p.Packet):
        is_end = isinstance(entry.obj, p.SectionEnd) and entry.obj.tool_call_id is not None
        is_outermost = entry.placement.sub_turn_index is None
        return is_outermost and (is_end or isinstance(entry.obj, p.ApprovalRequired))
    return isinstance(entry, p.Snapshot)


def lost_end() -> ResponseEnd:
    error = run_error(_LOST)
    return failed_end(error.code, error.message)


TOO_LONG: Final = ("context_too_long", "prompt_too_long", "tools_too_long")
# LiteLLM, LangChain and LibreChat search messages for these words, and shorten what they send.
_TOO_LONG_TO_CLIENTS: Final = "This model's maximum context length is exceeded."
# Codes of runs for which OpenAI has another code than server_error.
_CODES: Final = {
    "upstream_rate_limited": "rate_limit_exceeded",
    **dict.fromkeys(TOO_LONG, "invalid_prompt"),
}


def failed_end(code: str, message: str, metadata: Mapping[str, str] | None = None) -> ResponseEnd:
    """Return the end of a response with this error. OpenAI's list of codes is closed: ours begins the message."""
    if code in TOO_LONG:
        message = f"{message} {_TOO_LONG_TO_CLIENTS}"
    error = {"code": _CODES.get(code, "server_error"), "message": f"{code}: {message}"}
    return ResponseEnd("failed", {"error": error, "metadata": {**(metadata or {}), "turnwire_code": code}})


def snapshot_packets(message: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield packets that show what a snapshot's message does. Its last block stays open: later packets continue it."""
    blocks, narrated = Blocks(), 0
    cited = {
        citation["number"]: Document(
            citation["number"], citation["document_id"], citation["title"], url=citation.get("url") or ""
        )
        for citation in message.get("citations", ())
    }
    # A pending call is handed over when its answer ends.
    not_ended = _OPEN if message.get("status") == COMPLETED else (*_OPEN, HANDED_OVER)
    for _, calls in groupby(message.get("tool_calls", ()), key=itemgetter("turn_number")):
        before, *_ = round_calls = [_shown_call(call) for call in sorted(calls, key=itemgetter("tab_index"))]
        narrated += len(before.text_before)
        yield from show_before(blocks, ShownRound((), before.reasoning, before.text_before), cited)
        yield from blocks.round(len(round_calls))
        for tab, call in enumerate(round_calls):
            yield from show_call(blocks, tab, call.call)
            if call.call.status == _WAITING:
                yield from blocks.approval_required(tab, call.call, {})
            if call.call.status not in not_ended:
                yield from show_outcome(blocks, tab, call.call)
        if all(call.call.status not in not_ended for call in round_calls):
            yield from blocks.close()
        else:
            # The text behind it was written while it waited.
            blocks = Blocks(turn_index=blocks.turn_index + 1)
    rest = ShownRound((), message.get("reasoning") or "", message.get("text", "")[narrated:])
    yield from show_before(blocks, rest, cited)


class _SnapshotCall(NamedTuple):
    call: ShownCall
    reasoning: str
    text_before: str


def _shown_call(call: Mapping[str, Any]) -> _SnapshotCall:
    response = "" if call.get("documents") else call.get("response") or ""
    shown_call = ShownCall(
        call["id"], call["tool_call_id"], call["name"], call["arguments"], response, status=call["status"]
    )
    return _SnapshotCall(shown_call, call.get("reasoning", ""), call.get("text_before", ""))
