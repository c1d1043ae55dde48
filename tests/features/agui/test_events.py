"""A frontend has the same messages, however a run was split, sent, joined, lost or repeated."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chat.protocol import wire as p
from chat.transcript.packets import Placed
from chat.transcript.rebuild import Ended, rebuild
from features.agui.events import ShownAnswer
from tests.agui_frontend import apply, check
from tests.features.openai.test_response_events import COMPLETED, packets, runs, split
from tests.features.openai.test_response_parts import FUNCTION, Worker, workers

pytestmark = pytest.mark.pure
RUN = UUID("0123456789abcdef0123456789abcdef")
ENDS = {"threadId": "t", "runId": "r"}
TEXT = p.Placement()


def feed(answer: ShownAnswer, entries: Sequence[Any]) -> list[dict[str, Any]]:
    return [event for entry in entries for event in answer.feed(entry)]


def whole(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stream of a run that shows these events, valid."""
    stream = [{"type": "RUN_STARTED", **ENDS}, *events, {"type": "RUN_FINISHED", **ENDS}]
    check(stream)
    return stream


def messages_of(placed: Sequence[Placed]) -> list[dict[str, Any]]:
    """What somebody has who read the run from its beginning to its end. Results in the order of their calls."""
    answer = ShownAnswer(RUN)
    events = feed(answer, packets(placed))
    messages = apply([], whole([*events, *answer.close(is_completed=True)]))
    assert messages == answer.messages
    return ordered(messages)


def ordered(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without the order in which parallel calls have begun and ended."""
    for message in messages:
        message.get("toolCalls", []).sort(key=lambda call: call["id"])
    return sorted(messages, key=lambda message: (message["id"].split("-")[1:2], message["id"]))


@given(runs(), st.data())
def test_a_streamed_run_and_a_rebuilt_one_make_the_same_messages(run: Ended, data: st.DataObject) -> None:
    rebuilt = [*rebuild(run)]
    assert messages_of(split(data.draw, rebuilt)) == messages_of(rebuilt)


@given(workers())
@settings(max_examples=150)
def test_a_run_that_waits_makes_the_messages_of_a_rebuilt_one(worker: Worker) -> None:
    logs = [[line.entry for line in worker.run()], worker.rebuilt()]
    assume(worker.ended == COMPLETED)
    live, rebuilt = ShownAnswer(RUN, {FUNCTION}), ShownAnswer(RUN, {FUNCTION})
    made = []
    for answer, entries in zip((live, rebuilt), logs, strict=True):
        events = [*feed(answer, entries), *answer.close(is_completed=True)]
        made.append(ordered(apply([], whole(events))))
    assert made[0] == made[1]


@given(runs(), st.data())
def test_whoever_joins_anywhere_has_the_same_messages_in_the_end(run: Ended, data: st.DataObject) -> None:
    placed = split(data.draw, [*rebuild(run)])
    entries = packets(placed)
    place = data.draw(st.integers(0, len(entries)))
    answer = ShownAnswer(RUN)
    events = [*answer.join(entries[:place])]
    assert events[0]["type"] == "MESSAGES_SNAPSHOT"
    # The log is read from its beginning again.
    events += [*feed(answer, entries), *answer.close(is_completed=True)]
    assert ordered(apply([], whole(events))) == messages_of(placed)


@given(runs(), st.data())
def test_a_new_attempt_that_shows_the_same_is_sent_as_it_goes_on(run: Ended, data: st.DataObject) -> None:
    placed = [*rebuild(run)]
    first = packets(split(data.draw, placed))
    first = first[: data.draw(st.integers(0, len(first)))]
    answer = ShownAnswer(RUN)
    events = feed(answer, [*first, p.Reset("run", 2, "worker_lost"), *packets(split(data.draw, placed), 2)])
    events += answer.close(is_completed=True)
    messages: list[dict[str, Any]] = []
    longest = 0
    for event in whole(events):
        apply(messages, [event])
        length = sum(
            len(message.get("content", "")) for message in messages if message["role"] == "assistant"
        )
        assert length >= longest, "a text became shorter"
        longest = length
    assert ordered(messages) == messages_of(placed)


def test_whoever_joins_an_attempt_after_another_sees_it_go_on() -> None:
    texts = [(TEXT, p.MessageDelta(text)) for text in ("The ", "Moon ", "pulls.")]
    answer, again = ShownAnswer(RUN), packets(texts, 2)
    events = [*answer.join([*packets(texts), *again[:1]])]
    assert [message["content"] for message in apply([], events)] == ["The "]
    assert [event["type"] for event in feed(answer, again)] == ["TEXT_MESSAGE_CONTENT"] * 2


@given(runs(), runs(), st.data())
@settings(max_examples=50)
def test_an_attempt_that_shows_something_else_replaces_what_was_shown(
    run: Ended, other: Ended, data: st.DataObject
) -> None:
    first = packets(split(data.draw, [*rebuild(run)]))
    first = first[: data.draw(st.integers(0, len(first) - 1))]
    answer = ShownAnswer(RUN)
    events = feed(answer, [*first, *packets([*rebuild(other)], 2)])
    assert ordered(apply([], [*events, *answer.close(is_completed=True)])) == messages_of([*rebuild(other)])


def test_a_call_of_the_frontend_is_shown_when_it_is_handed_over() -> None:
    answer = ShownAnswer(RUN, {"draw"})
    call = [
        (TEXT, p.ToolStart("c1", "draw")),
        (TEXT, p.ToolArgumentsDelta("c1", '{"x": 1}')),
        (TEXT, p.ToolArguments("c1", {}, ref="row")),
    ]
    assert feed(answer, packets(call)) == []
    # One that the model has to mend is never shown.
    assert feed(ShownAnswer(RUN, {"draw"}), packets([*call, (TEXT, p.SectionEnd("c1", "failed"))])) == []
    events = [*answer.close(is_completed=True)]
    [message] = apply([], whole(events))
    assert message["toolCalls"][0]["function"] == {"name": "draw", "arguments": '{"x": 1}'}
    assert answer.pending == [message["toolCalls"][0]["id"]]


def test_what_happens_inside_a_call_is_not_shown() -> None:
    inside = (p.Placement(0, 0, 1), p.MessageDelta("A note"))
    assert feed(ShownAnswer(RUN), packets([inside])) == []


def test_a_source_is_told_with_its_text() -> None:
    answer = ShownAnswer(RUN)
    cited = p.CitationInfo(1, "d1", "Tides", "https://tides.example")
    events = feed(answer, packets([(TEXT, p.MessageStart()), (TEXT, cited), (TEXT, p.MessageDelta("[1]"))]))
    [message] = apply([], whole([*events, *answer.close()]))
    source = {"number": 1, "documentId": "d1", "title": "Tides", "url": "https://tides.example"}
    assert (message["content"], message["metadata"]) == ("[1]", {"citations": [source]})


def test_a_run_waits_when_all_its_running_calls_ask_their_user() -> None:
    answer = ShownAnswer(RUN, {"draw"})
    calls = [
        (p.Placement(0, tab), p.ToolStart(f"c{tab}", name))
        for tab, name in enumerate(["clock", "search", "draw"])
    ]
    feed(answer, packets(calls))
    for tab, waits in ((0, False), (1, True)):
        ask = p.ApprovalRequired(f"c{tab}", f"row {tab}", "clock", {})
        feed(
            answer,
            packets([*calls, (p.Placement(0, tab), ask)])[-1:]
            if tab == 0
            else packets([*calls] * 2 + [(p.Placement(0, tab), ask)])[-1:],
        )
        assert answer.is_waiting is waits
    assert answer.asked == {f"c{tab}": f"{RUN.hex}-0-c{tab}" for tab in (0, 1)}


def test_a_run_waits_also_if_its_model_wrote_more_behind_the_calls() -> None:
    call = [(TEXT, p.ToolStart("c1", "act")), (TEXT, p.ApprovalRequired("c1", "row", "act", {}))]
    behind = [(TEXT, p.SectionEnd("c1", "unknown")), (p.Placement(1), p.MessageDelta("Soon."))]
    answer = ShownAnswer(RUN)
    events = feed(answer, packets([*call, *behind]))
    assert answer.is_waiting
    events += answer.close()
    assert [event["type"] for event in events] == ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]
