"""Where a run waits for approvals, a response ends and another one begins, the same for every reader at any time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json

from chat.protocol import wire as p
from chat.transcript.packets import Blocks
from chat.transcript.rebuild import (
    Ended,
    ShownCall,
    ShownRound,
    rebuild,
    show_before,
    show_call,
    show_outcome,
    show_rounds,
)
from chat.transcript.waits import Asked, Beside, Wait, find_waits
from features.openai.part_ends import find_ends, name_request
from features.openai.response_events import FROM_THE_FIRST, Event, ResponseEnd, ResponseEvents
from features.openai.response_stream import EncodedEvent, ResponseStream
from tests.features.openai.test_response_events import COMPLETED, RESPONSE, RUN, TEXTS, check, packets

pytestmark = pytest.mark.pure
FUNCTION = "weather"


@dataclass
class Call:
    """A call as a worker carries it out. asks: the kinds of what it asks, one after the other."""

    id: str
    name: str
    asks: Sequence[str]
    status: str
    response: str
    asked: int = 0
    decided: int = 0
    row: str = "running"
    was_stopped: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.asked > self.decided

    @property
    def has_ended(self) -> bool:
        return self.row not in ("running", "waiting", "pending")

    def shown(self) -> ShownCall:
        return ShownCall(self.id, self.id, self.name, {}, self.response * self.has_response, status=self.row)

    @property
    def has_response(self) -> bool:
        return self.has_ended and not self.was_stopped

    def stop(self) -> None:
        """End with the run, as the rows of unfinished calls do."""
        if not self.has_ended:
            self.row = "refused" if self.row == "waiting" else "unknown"
            self.was_stopped = True


@dataclass
class Round:
    """text: before the calls.  after_calls: what the model wrote behind them, and is shown while they wait."""

    text: str
    after_calls: str
    calls: list[Call]
    is_saved: bool = False

    @property
    def has_ended(self) -> bool:
        return all(call.has_ended for call in self.calls)


class Shown(NamedTuple):
    """An entry of the log, and the waits as they were stored when it was shown."""

    entry: Any
    waits: Sequence[Wait]


@dataclass
class Worker:
    """Carries a run out, attempt by attempt. draw: decides what no rule does."""

    rounds: list[Round]
    text: str
    draw: Any
    asked: list[Asked] = field(default_factory=list)
    attempt: int = 0
    stored: int = 0  # rounds
    saved: str = ""
    ended: ResponseEnd = COMPLETED
    _has_waited: bool = False
    _open: tuple[Blocks, int, bool] | None = None  # while it carries calls out

    def run(self) -> list[Shown]:
        log: list[Shown] = []
        while True:
            lines = self._attempt()
            if self.draw(st.integers(0, 3)) == 3 and self.attempt < 8:
                lines = self._until(lines, self.draw(st.integers(0, 20)))
            log += lines
            if log and isinstance(getattr(log[-1].entry, "obj", None), p.Stop):
                return log
            if (self._has_waited or self._can_be_cancelled(log)) and self.draw(st.integers(0, 3)) == 3:
                self.ended = ResponseEnd("cancelled")
                return [*log, *(self._stop() if self._has_waited else self._cancel())]
            for call in (call for each in self.rounds for call in each.calls if call.is_waiting):
                if self._has_waited or self.draw(st.booleans()):
                    call.decided = call.asked

    def _can_be_cancelled(self, log: Sequence[Shown]) -> bool:
        """Whether it carries calls out, and has stored as much as it has shown."""
        return bool(self._open and not isinstance(getattr(log[-1].entry, "obj", None), p.ToolOutput))

    def _cancel(self) -> list[Shown]:
        """End what is shown, and then the run."""
        assert self._open
        blocks, number, is_first = self._open
        self._stop_calls()
        after_calls = self.rounds[number].after_calls * is_first
        self.saved += after_calls
        placed = [*blocks.message(after_calls), *blocks.close(), *blocks.stop("user_cancelled")]
        return [Shown(packet, self.waits()) for packet in packets(placed, self.attempt)]

    def _stop(self) -> list[Shown]:
        """End the run while it waits, without a worker."""
        self.attempt += 1
        self._stop_calls()
        stop = packets(Blocks().stop("user_cancelled"), self.attempt)
        snapshot = p.Snapshot("run", self.attempt, 0, self._message())
        return [Shown(entry, self.waits()) for entry in (snapshot, *stop)]

    def _stop_calls(self) -> None:
        for each in self.rounds[: self.stored]:
            for call in each.calls:
                call.stop()

    def _until(self, lines: Iterator[Shown], count: int) -> Iterator[Shown]:
        """Die after so many entries."""
        for _, line in zip(range(count), lines, strict=False):
            yield line

    def waits(self) -> list[Wait]:
        rows = [
            Beside(number, tab, call.has_response)
            for number, each in enumerate(self.rounds[: self.stored])
            for tab, call in enumerate(each.calls)
            if call.name != FUNCTION
        ]
        return find_waits(list(self.asked), rows)

    def _attempt(self) -> Iterator[Shown]:
        self.attempt += 1
        self._has_waited = False
        self._open = None
        for seq, entry in enumerate(self._entries(), start=1):
            if isinstance(entry, p.Snapshot):
                yield Shown(entry, self.waits())
            else:
                packet = p.Packet("session", "run", self.attempt, seq, entry[0], entry[1])
                yield Shown(packet, self.waits())

    def _entries(self) -> Iterator[Any]:
        blocks = Blocks()
        for each in self.rounds[: self.stored]:
            # The worker has died before it saved that.
            each.after_calls *= each.is_saved
        is_shown = self.stored > 0 and bool(
            self.rounds[self.stored - 1].after_calls or self.draw(st.booleans())
        )
        if is_shown:
            yield p.Snapshot("run", self.attempt, 0, self._message())
        resumed = self.stored
        for number in range(resumed):
            placed = list(self._replay(blocks, number))
            yield from () if is_shown else placed
            if not self.rounds[number].has_ended:
                yield from self._round(blocks, number)
        for number in range(resumed, len(self.rounds)):
            if self._has_waited:
                return
            first = self.rounds[number].calls[0]
            yield from blocks.message(self._text_of(number, is_shown=is_shown))
            yield from blocks.tool_start(0, first.id, first.name)
            yield from self._round(blocks, number)
        if self._has_waited:
            return
        if not self.hands_over:
            yield from blocks.message(self._text_of(len(self.rounds), is_shown=is_shown))
        yield from blocks.stop("finished")

    def _replay(self, blocks: Blocks, number: int) -> Iterator[Any]:
        if self.rounds[number].has_ended:
            return show_rounds(blocks, [self._shown(number)], {})
        return show_before(blocks, ShownRound((), "", self._text_before(number)), {})

    def _round(self, blocks: Blocks, number: int) -> Iterator[Any]:
        each = self.rounds[number]
        is_first = number >= self.stored
        self._begin(number)
        yield from blocks.round(len(each.calls))
        for tab, call in enumerate(each.calls):
            yield from show_call(blocks, tab, call.shown())
            if call.is_waiting:
                yield from blocks.approval_required(tab, call.shown(), {})
        own = [tab for tab, call in enumerate(each.calls) if not call.is_waiting and call.name != FUNCTION]
        ended = [tab for tab in own if each.calls[tab].has_ended]
        for tab in ended:
            yield from show_outcome(blocks, tab, each.calls[tab].shown())
        running = sorted({*own} - {*ended})
        self._open = blocks, number, is_first
        for tab in self.draw(st.permutations(running)):
            yield from self._carry_out(blocks, number, tab)
        self._open = None
        if any(call.is_waiting for call in each.calls):
            if is_first:
                yield from blocks.message(each.after_calls)
                self.saved, each.is_saved = self.saved + each.after_calls, True
            self._has_waited = True
            return
        for tab, call in enumerate(each.calls):
            if call.name == FUNCTION:
                yield from blocks.tool_end(tab, "pending")
        yield from blocks.close()

    def _begin(self, number: int) -> None:
        """Store the calls, and what they ask before they run."""
        for tab, call in enumerate(self.rounds[number].calls):
            if not call.is_waiting and not call.has_ended:
                call.row = "pending" if call.name == FUNCTION else "running"
                if call.asks[call.asked : call.asked + 1] == ["approval"]:
                    self._ask(number, tab)
        if number >= self.stored:
            self.stored = number + 1
            self.saved = "".join(self._text_before(n) for n in range(number + 1))

    def _carry_out(self, blocks: Blocks, number: int, tab: int) -> Iterator[Any]:
        call = self.rounds[number].calls[tab]
        if not call.has_ended and call.asked < len(call.asks):
            self._ask(number, tab)
            yield from blocks.approval_required(tab, call.shown(), {})
        else:
            call.row = call.status
            yield from show_outcome(blocks, tab, call.shown())

    def _ask(self, number: int, tab: int) -> None:
        call = self.rounds[number].calls[tab]
        kind = call.asks[call.asked]
        call.asked, call.row = call.asked + 1, "waiting"
        self.asked.append(Asked(UUID(int=len(self.asked)), number, tab, call.name, {}, kind, "approved"))

    @property
    def hands_over(self) -> bool:
        return any(call.name == FUNCTION for call in self.rounds[-1].calls)

    def _text_before(self, number: int) -> str:
        after = self.rounds[number - 1].after_calls if number and self._asks(number - 1) else ""
        return after + (self.rounds[number].text if number < len(self.rounds) else self.text)

    def _asks(self, number: int) -> bool:
        return any(call.asks for call in self.rounds[number].calls)

    def _text_of(self, number: int, *, is_shown: bool) -> str:
        """What is written now: what was written after calls is shown by the snapshot, if by anything."""
        whole = self._text_before(number)
        before = "".join(self._text_before(n) for n in range(number))
        return (before + whole)[max(len(before), len(self.saved)) :] if is_shown else whole

    def _shown(self, number: int) -> ShownRound:
        calls = tuple(call.shown() for call in self.rounds[number].calls)
        return ShownRound(calls, "", self._text_before(number))

    def _message(self) -> dict[str, Any]:
        calls = [
            {
                "id": call.id, "tool_call_id": call.id, "name": call.name, "arguments": {}, "status": call.row,
                "response": call.response * call.has_response, "turn_number": number, "tab_index": tab,
                "text_before": self._text_before(number),
            }
            for number, each in enumerate(self.rounds[: self.stored])
            for tab, call in enumerate(each.calls)
        ]  # fmt: skip
        return {"text": self.saved, "tool_calls": calls}

    def rebuilt(self, count: int | None = None) -> list[p.Packet]:
        """All packets once the run has ended; of so many rounds, also before."""
        rounds = tuple(self._shown(number) for number in range(self.stored))
        text = "".join(self._text_before(number) for number in range(self.stored))
        if self.ended != COMPLETED:
            text = self.saved
        elif self.hands_over:
            text += self.rounds[-1].after_calls
        else:
            text += self._text_before(self.stored)
        if count is not None:
            blocks = Blocks()
            return packets([*blocks.run_start("quick"), *show_rounds(blocks, rounds[:count], {})])
        return packets(rebuild(Ended("quick", 0, "", text, "finished", rounds=rounds)))


ASKS = st.lists(st.sampled_from(["approval", "approval", "question", "sign_in"]), max_size=3)


@st.composite
def workers(draw: st.DrawFn) -> Worker:
    def call(number: int, tab: int) -> Call:
        status = draw(st.sampled_from(["completed", "failed", "refused"]))
        return Call(f"call {number} {tab}", "act", draw(st.just([]) | ASKS), status, draw(TEXTS))

    rounds = []
    count = draw(st.integers(1, 3))
    for number in range(count):
        calls = [call(number, tab) for tab in range(draw(st.integers(1, 3)))]
        if number == count - 1 and draw(st.booleans()):
            place = draw(st.integers(0, len(calls)))
            calls.insert(place, Call(f"function {number}", FUNCTION, [], "pending", "", row="pending"))
        after_calls = draw(st.just("") | TEXTS) if any(each.asks for each in calls) else ""
        rounds.append(Round(draw(st.just("") | TEXTS), after_calls, calls))
    return Worker(rounds, draw(TEXTS), draw)


def stream(part: int, waits: Sequence[Wait] = ()) -> ResponseStream:
    names = frozenset([FUNCTION])
    return ResponseStream(lambda: ResponseEvents(RUN, RESPONSE, names, FROM_THE_FIRST, part), waits)


def read_live(part: int, log: Sequence[Shown], worker: Worker) -> list[Event]:
    reading = stream(part)
    encoded = [*reading.begin()]
    for entry, waits in log:
        if reading.has_asked(entry):
            reading.set_waits(waits)
        encoded += reading.feed(entry)
    encoded += reading.end(
        worker.ended, lambda: replayed(part, worker.rebuilt(), worker.waits(), worker.ended)
    )
    return [json.decode(event.data) for event in encoded]


def replayed(
    part: int, entries: Sequence[p.Packet], waits: Sequence[Wait], ended: ResponseEnd | None
) -> Iterator[EncodedEvent]:
    reading = stream(part, waits)
    yield from reading.begin()
    for entry in entries:
        yield from reading.feed(entry)
    if ended:
        yield from reading.end(ended, lambda: iter(()))


def replay(
    part: int, entries: Sequence[p.Packet], waits: Sequence[Wait], ended: ResponseEnd | None
) -> list[Event]:
    return [json.decode(event.data) for event in replayed(part, entries, waits, ended)]


@given(workers(), st.data())
@settings(max_examples=150)
def test_each_part_has_the_same_events_live_and_later_whoever_dies(
    worker: Worker, data: st.DataObject
) -> None:
    log = worker.run()
    waits = worker.waits()
    ends = [wait for wait in find_ends(waits) if wait.is_reached]
    items = []
    for part in range(len(ends) + 1):
        expected = replay(part, worker.rebuilt(), waits, worker.ended)
        check(expected)
        items += expected[-1]["response"]["output"]
        assert read_live(part, log, worker) == expected
        # Who comes later reads from the beginning of an attempt.
        attempt = data.draw(st.integers(1, worker.attempt))
        assert read_live(part, [line for line in log if line.entry.attempt >= attempt], worker) == expected
        if part < len(ends):
            requests = expected[-1]["response"]["output"][-len(ends[part].asked) :]
            assert {item["type"] for item in requests} == {"mcp_approval_request"}
            assert replay(part, worker.rebuilt(ends[part].round + 1), waits, None) == expected
    ids = [item["id"] for item in items]
    assert len(set(ids)) == len(ids)
    calls = sum(call.name != FUNCTION for each in worker.rounds[: worker.stored] for call in each.calls)
    assert sum(item["type"] == "mcp_call" for item in items) == calls
    asked = {item["id"] for item in items if item["type"] == "mcp_approval_request"}
    assert {item["approval_request_id"] for item in items if "approval_request_id" in item} <= asked


@pytest.mark.parametrize("part", [0, 1])
def test_a_part_whose_text_is_corrected_ends_where_its_run_waits(part: int) -> None:
    """A snapshot of the same attempt says that thoughts were no text: it is not sent, but the calls that wait are."""
    asked = [Asked(UUID(int=number), number, 1, "act", {}) for number in range(part + 1)]
    blocks, before = Blocks(), list[Any]()
    for number in range(part):
        calls = tuple(ShownCall(f"c{number}{tab}", f"c{number}{tab}", "act", {}, "Done.") for tab in range(2))
        before += show_rounds(blocks, [ShownRound(calls)], {})
    tool_calls = [
        {"id": call, "tool_call_id": call, "name": "act", "arguments": {}, "status": "completed",
         "response": "Done.", "turn_number": number, "tab_index": tab}
        for number in range(part) for tab in range(2) for call in [f"c{number}{tab}"]
    ]  # fmt: skip
    text = list(blocks.message("Two bulges. I act."))
    corrected = Blocks(turn_index=blocks.turn_index + 2)
    message = {"text": "I act.", "reasoning": "Two bulges.", "tool_calls": tool_calls}
    behind = list(corrected.round(2))
    for tab in range(2):
        call = ShownCall(f"c{part}{tab}", f"c{part}{tab}", "act", {}, "")
        behind += show_call(corrected, tab, call)
        if tab:
            behind += corrected.approval_required(tab, call, {})
    behind += corrected.tool_output(0, "Done.", [], "row")
    behind += corrected.tool_end(0, "completed")
    reading = stream(part)
    encoded = [*reading.begin()]
    entries = [*packets([*before, *text]), p.Snapshot("run", 1, 0, message), *packets(behind)]
    for place, entry in enumerate(entries):
        rows = [Beside(wait.round, 0, wait.round < part or place == len(entries) - 1) for wait in asked]
        reading.set_waits(find_waits(asked, rows))
        encoded += reading.feed(entry)
    assert reading.is_ended
    events = [json.decode(event.data) for event in encoded]
    check(events)
    *_, message_item, request = events[-1]["response"]["output"]
    assert message_item["content"][0]["text"] == "Two bulges. I act."
    assert request["id"] == name_request(RUN.hex, part, 1)


def test_a_wait_that_an_attempt_did_not_get_to_ends_no_part() -> None:
    """Its call was decided, and asked again, while another one ran, which asks in the end."""
    asked = [Asked(UUID(int=place), 0, tab, "act", {}) for place, tab in enumerate([0, 0, 1])]
    for has_ended in (False, True):
        waits = find_waits(asked, [Beside(0, tab, has_ended) for tab in range(2)])
        assert [list(wait.asked) for wait in find_ends(waits)] == [[0, 1]]
