"""Events follow from what packets show, not from how they were split, sent, lost or repeated."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from chat.protocol import wire as p
from chat.transcript.entries import Document
from chat.transcript.packets import Placed
from chat.transcript.rebuild import Ended, ShownCall, ShownRound, rebuild
from features.openai.response_events import Event, ResponseEnd, ResponseEvents
from features.openai.response_stream import ResponseStream, failed_end, snapshot_packets

pytestmark = pytest.mark.pure
RUN = UUID("0123456789abcdef0123456789abcdef")
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
RESPONSE = {
    "id": f"resp_{RUN.hex}", "object": "response", "created_at": 1, "error": None, "model": "quick", "output": [],
    "parallel_tool_calls": True, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": [], "metadata": {},
    "incomplete_details": None, "instructions": None,
}  # fmt: skip
COMPLETED = ResponseEnd("completed")

TEXTS = st.text(st.sampled_from("ab 🌊\n字"), min_size=1, max_size=60)
ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3) | TEXTS, max_size=2)


@st.composite
def runs(draw: st.DrawFn) -> Ended:
    def call(number: int) -> ShownCall:
        status = draw(st.sampled_from(["completed", "failed", "refused", "unknown"]))
        response = draw(TEXTS)
        return ShownCall(f"row {number}", f"call {number}", "clock", draw(ARGUMENTS), response, status=status)

    rounds = tuple(
        ShownRound(
            tuple(call(number) for number in range(draw(st.integers(1, 3)))),
            draw(st.just("") | TEXTS),
            draw(st.just("") | TEXTS),
        )
        for _ in range(draw(st.integers(0, 2)))
    )
    text = "".join(shown_round.text_before for shown_round in rounds) + draw(st.just("") | TEXTS)
    return Ended("quick", 0, draw(st.just("") | TEXTS), text, "finished", rounds=rounds)


def split(draw: st.DrawFn, placed: Iterable[Placed]) -> list[Placed]:
    """The packets as a stream has them: texts in pieces; parallel calls start first, and end in any order."""
    pieces: list[Placed] = []
    for placement, obj in placed:
        if not isinstance(obj, p.MessageDelta | p.ReasoningDelta):
            pieces.append((placement, obj))
            continue
        cuts = sorted(draw(st.lists(st.integers(0, len(obj.text)), max_size=5)))
        for start, end in zip([0, *cuts], [*cuts, len(obj.text)], strict=True):
            if start < end:
                pieces.append((placement, type(obj)(obj.text[start:end])))
    return _interleaved(draw, pieces)


def _interleaved(draw: st.DrawFn, placed: list[Placed]) -> list[Placed]:
    order: list[Placed] = []
    while placed:
        calls = [packet for packet in placed if _is_of_round(packet, placed[0])]
        if not calls:
            order.append(placed.pop(0))
            continue
        placed = placed[len(calls) :]
        by_tab: dict[int, list[Placed]] = {}
        for placement, obj in calls:
            by_tab.setdefault(placement.tab_index, []).append((placement, obj))
        while waiting := [tab for tab, rest in by_tab.items() if rest]:
            order.append(by_tab[draw(st.sampled_from(waiting))].pop(0))
    return order


def _is_of_round(packet: Placed, first: Placed) -> bool:
    kinds = (p.ToolStart, p.ToolArguments, p.ToolArgumentsDelta, p.ToolOutput, p.SectionEnd)
    is_call = isinstance(first[1], p.ToolStart)
    is_end_of_text = isinstance(packet[1], p.SectionEnd) and packet[1].tool_call_id is None
    return (
        is_call
        and isinstance(packet[1], kinds)
        and not is_end_of_text
        and packet[0].turn_index == first[0].turn_index
    )


def stream() -> ResponseStream:
    return ResponseStream(lambda: ResponseEvents(RUN, RESPONSE))


def packets(placed: Iterable[Placed], attempt: int = 1) -> list[p.Packet]:
    return [
        p.Packet("session", "run", attempt, seq, placement, obj)
        for seq, (placement, obj) in enumerate(placed, start=1)
    ]


def events_of(entries: Sequence[Any], ended: ResponseEnd = COMPLETED) -> list[Event]:
    reading = stream()
    encoded = [*reading.begin()]
    for entry in entries:
        encoded += reading.feed(entry)
    encoded += reading.end(ended, lambda: iter(()))
    events = [json.decode(event.data) for event in encoded]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def check(events: list[Event]) -> None:
    """Every event is one of OpenAI's; items are added once, in order, and done as they are in the end."""
    for event in events:
        EVENT.validate_python(event)
    added = [event for event in events if event["type"] == "response.output_item.added"]
    done = [event for event in events if event["type"] == "response.output_item.done"]
    assert [event["output_index"] for event in added] == list(range(len(added)))
    assert [event["item"]["id"] for event in added] == [event["item"]["id"] for event in done]
    assert len({event["item"]["id"] for event in added}) == len(added)
    assert events[-1]["response"]["output"] == [event["item"] for event in done]
    assert events[0]["type"] == "response.created"


def text_of(events: list[Event]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


@given(runs(), st.data())
def test_a_streamed_run_and_a_rebuilt_one_have_the_same_events(run: Ended, data: st.DataObject) -> None:
    rebuilt = events_of(packets(rebuild(run)))
    check(rebuilt)
    assert text_of(rebuilt) == run.text
    assert events_of(packets(split(data.draw, rebuild(run)))) == rebuilt


@given(runs(), st.data())
def test_a_new_attempt_that_shows_the_same_goes_on_whereever_the_first_one_ended(
    run: Ended, data: st.DataObject
) -> None:
    first, second = (packets(split(data.draw, rebuild(run)), attempt) for attempt in (1, 2))
    first = first[: data.draw(st.integers(0, len(first)))]
    reset = p.Reset("run", 1, "new_attempt")
    assert events_of([*first, reset, *second]) == events_of(packets(rebuild(run)))


@given(runs(), st.data())
def test_an_attempt_that_begins_with_a_snapshot_continues_it(run: Ended, data: st.DataObject) -> None:
    """The snapshot has all rounds and a part of the text behind them."""
    narrated = sum(len(shown_round.text_before) for shown_round in run.rounds)
    saved = data.draw(st.integers(narrated, len(run.text)))
    placed = split(data.draw, rebuild(run))
    first = packets(placed)[: data.draw(st.integers(0, len(placed)))]
    length = sum(len(packet.obj.text) for packet in first if isinstance(packet.obj, p.MessageDelta))
    if saved == narrated or length > saved:
        return  # the text of a snapshot is never empty, nor behind what this test lets the reader see
    rest = _after_text(placed, saved)
    second = packets(rest, 2)
    snapshot = p.Snapshot("run", 2, 0, _message(run, saved))
    assert events_of([*first, snapshot, *second]) == events_of(packets(rebuild(run)))


def _after_text(placed: list[Placed], saved: int) -> list[Placed]:
    """What an attempt sends that continues a text of so many characters."""
    length, rest = 0, list[Placed]()
    for placement, obj in placed:
        if isinstance(obj, p.MessageDelta):
            before, length = length, length + len(obj.text)
            if length > saved:
                obj = p.MessageDelta(obj.text[max(0, saved - before) :])  # noqa: PLW2901
                rest += [] if rest else [(placement, p.MessageStart())]
                rest.append((placement, obj))
        elif length >= saved and rest:
            rest.append((placement, obj))
    return rest


def _message(run: Ended, saved: int) -> dict[str, Any]:
    calls = [
        {
            "id": call.id, "tool_call_id": call.tool_call_id, "name": call.name, "arguments": call.arguments,
            "response": call.response, "status": call.status, "turn_number": turn, "tab_index": tab,
            **({"text_before": shown_round.text_before, "reasoning": shown_round.reasoning} if tab == 0 else {}),
        }
        for turn, shown_round in enumerate(run.rounds)
        for tab, call in enumerate(shown_round.calls)
    ]  # fmt: skip
    return {"text": run.text[:saved], "reasoning": run.reasoning, "tool_calls": calls}


@given(runs(), runs(), st.data())
@settings(max_examples=50)
def test_an_attempt_that_shows_something_else_takes_nothing_back(
    run: Ended, other: Ended, data: st.DataObject
) -> None:
    first = packets(split(data.draw, rebuild(run)))
    first = first[: data.draw(st.integers(0, len(first)))]
    events = events_of([*first, *packets(rebuild(other), 2)])
    check(events)
    cut = events_of(first)
    whole = events_of(packets(rebuild(other)))
    if events[-1]["type"] == "response.failed":
        assert events[-1]["response"]["error"]["message"].startswith("worker_lost: ")
        assert events[:-1] == cut[:-1]
    else:
        assert events == whole


def test_a_correction_of_what_an_attempt_has_shown_is_not_sent() -> None:
    """Thinking without its opening tag is sent as text; the snapshot at the end shows it as reasoning."""
    written = packets(rebuild(Ended("quick", 0, "", "Two bulges, I think. The Moon.", "finished")))[:-1]
    snapshot = p.Snapshot("run", 1, 0, {"reasoning": "Two bulges, I think.", "text": "The Moon."})
    events = events_of([*written, snapshot, *packets([(p.Placement(0), p.MessageDelta(" Ignored."))])])
    check(events)
    assert events == events_of(written)
    assert (events[-1]["type"], text_of(events)) == ("response.completed", "Two bulges, I think. The Moon.")
    # The next attempt is compared with what was sent, as ever.
    other = packets(rebuild(Ended("quick", 0, "", "Something else", "finished")), 2)
    assert events_of([*written, snapshot, *other])[-1]["type"] == "response.failed"
    same = packets(
        rebuild(Ended("quick", 0, "", "Two bulges, I think. The Moon. And the Sun.", "finished")), 2
    )
    assert text_of(events_of([*written[:-1], snapshot, *same])).endswith("And the Sun.")


def test_an_error_of_the_run_is_the_error_of_the_response() -> None:
    run = Ended("quick", 0, "", "Half", "error", p.Error("upstream_timeout", "Late.", retryable=True))
    events = events_of(packets(rebuild(run)), failed_end("upstream_timeout", "Late.", {"a": "b"}))
    check(events)
    response = events[-1]["response"]
    assert (events[-1]["type"], response["status"]) == ("response.failed", "failed")
    assert response["error"] == {"code": "server_error", "message": "upstream_timeout: Late."}
    assert response["metadata"] == {"a": "b", "turnwire_code": "upstream_timeout"}


@pytest.mark.parametrize(
    ("url", "annotation"),
    [
        (
            "https://sea.example/a",
            {"type": "url_citation", "url": "https://sea.example/a", "title": "Sea", "start_index": 5, "end_index": 33},
        ),
        ("", {"type": "file_citation", "file_id": "d", "filename": "Sea", "index": 5}),
    ],
)  # fmt: skip
def test_a_citation_is_an_annotation_of_its_link(url: str, annotation: dict[str, Any]) -> None:
    link = f"[[1]]({url})" if url else "[1]"
    document = Document(1, "d", "Sea", url=url)
    events = events_of(
        packets(rebuild(Ended("quick", 0, "", f"Tides{link} rise.", "finished", citations=(document,))))
    )
    check(events)
    [part] = events[-1]["response"]["output"][0]["content"]
    assert part["annotations"] == [annotation]
    if url:
        assert part["text"][annotation["start_index"] : annotation["end_index"]] == link


def test_what_happens_inside_a_call_is_not_shown() -> None:
    inner = ShownRound((ShownCall("i", "i", "web_search", {}, "found"),), "thinking", "searching")
    call = ShownCall("o", "o", "research_agent", {"task": "tides"}, "done", rounds=(inner,), report="report")
    events = events_of(packets(rebuild(Ended("quick", 0, "", "", "finished", rounds=(ShownRound((call,)),)))))
    check(events)
    assert [item["name"] for item in events[-1]["response"]["output"]] == ["research_agent"]


def test_a_call_that_waits_is_shown_by_a_snapshot_as_one_in_progress() -> None:
    message = {
        "text": "", "tool_calls": [{
            "id": "r", "tool_call_id": "c", "name": "act", "arguments": {}, "response": "", "status": "waiting",
            "turn_number": 0, "tab_index": 0,
        }],
    }  # fmt: skip
    kinds = [type(obj).__name__ for _, obj in snapshot_packets(message)]
    assert kinds == ["ToolStart", "ToolArgumentsDelta", "ToolArguments", "ApprovalRequired"]


def test_what_is_written_after_a_round_stands_before_the_next_one() -> None:
    """Also if a call has ended without output while another one waited."""

    def begin(name: str, tab: int, turn: int = 0) -> list[Placed]:
        place = p.Placement(turn, tab)
        return [(place, p.ToolStart(name, name)), (place, p.ToolArguments(name, {}))]

    asks = p.Placement(0, 1)
    placed = [
        *begin("quiet", 0),
        *begin("act", 1),
        (asks, p.ApprovalRequired("act", "row", "act", {})),
        (p.Placement(0), p.SectionEnd("quiet")),
        (p.Placement(1), p.MessageDelta("Meanwhile.")),
        (asks, p.ToolOutput("act", "done")),
        (asks, p.SectionEnd("act")),
        *begin("next", 0, 2),
        (p.Placement(2), p.ToolOutput("next", "done")),
        (p.Placement(2), p.SectionEnd("next")),
    ]
    events = events_of(packets(placed))
    check(events)
    items = events[-1]["response"]["output"]
    assert [item.get("name", "text") for item in items] == ["quiet", "act", "text", "next"]
