"""Recorded requests of an attempt: each stored once as its difference, and the share the server had seen."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from chat.transcript.entries import Call, Image
from llm_worker.records import request_log
from llm_worker.records.request_log import RequestRecorder
from llm_worker.request.model_message import LanguageModelInput, Message, to_api_messages

pytestmark = pytest.mark.pure

NOW = datetime(2026, 11, 22, tzinfo=UTC)
TOOL = UUID(int=1)


def request(notation: str) -> LanguageModelInput:
    """ "S U1 R": each of 10 tokens; the text is the word itself."""
    letters = {"S": "S", "U": "U", "A": "A", "T": "TR", "R": "R"}
    return [Message(letters[word[0]], word, tokens=10) for word in notation.split()]  # type: ignore[arg-type]


def recorded(*requests: str) -> RequestRecorder:
    recorder = RequestRecorder()
    for one in requests:
        recorder.record(request(one), NOW)
    return recorder


@pytest.mark.parametrize(
    ("requests", "common", "shares"),
    [
        pytest.param(["S U"], [0], [0.0], id="the first is new"),
        pytest.param(["S U", "S U T1"], [0, 2], [0.0, 2 / 3], id="one that goes on"),
        pytest.param(["S U T1 R", "S U T1 T2 R"], [0, 3], [0.0, 3 / 5], id="the reminder moves down"),
        pytest.param(["S U", "S U", "U"], [0, 2, 0], [0.0, 1.0, 0.0], id="the same, another"),
    ],
)
def test_each_request_is_recorded_as_what_it_adds(
    requests: list[str], common: list[int], shares: list[float]
) -> None:
    rows = [one.to_row() for one in recorded(*requests).take()]
    assert [row.cycle for row in rows] == list(range(1, len(rows) + 1))
    assert [row.common for row in rows] == common
    assert [row.prefix_share for row in rows] == pytest.approx(shares)
    kept = [[message["content"] for message in json.loads(row.messages)] for row in rows]
    assert kept == [one.split()[number:] for one, number in zip(requests, common, strict=True)]
    assert [row.tokens for row in rows] == [10 * len(one.split()) for one in requests]


def test_taken_requests_are_not_returned_again_and_later_ones_build_on_them() -> None:
    recorder = recorded("S U")
    assert len(recorder.take()) == 1
    recorder.record(request("S U T1"), NOW)
    [row] = [one.to_row() for one in recorder.take()]
    assert (row.cycle, row.common) == (2, 2)
    assert recorder.take() == []


def test_the_inner_loop_of_a_tool_is_numbered_and_compared_separately() -> None:
    recorder = recorded("S U")
    recorder.record(request("S U7"), NOW, tool_call=TOOL)
    recorder.record(request("S U T1"), NOW)
    recorder.record(request("S U7 T7"), NOW, tool_call=TOOL)
    rows = [one.to_row(known=["nothing"]) for one in recorder.take()]
    assert [(row.tool_call, row.cycle, row.common) for row in rows] == [
        (None, 1, 0), (TOOL, 1, 0), (None, 2, 2), (TOOL, 2, 2)
    ]  # fmt: skip


def test_the_first_request_of_a_turn_is_compared_with_the_last_of_the_turn_before() -> None:
    known = request_log.message_digests(request("S U1 T1"))
    first, second = recorded("S U1 A1 U2", "S U1 A1 U2 T2").take()
    assert first.to_row(known).prefix_share == pytest.approx(2 / 4)
    assert first.to_row(known).common == 0, "what is kept can be read without the turn before"
    assert second.to_row(known).prefix_share == pytest.approx(4 / 5)


def test_messages_are_recorded_as_they_are_sent() -> None:
    call = Call("c1", "current_time", {"timezone": "UTC"}, response="")
    messages = [
        Message("S", "Be brief."),
        Message("TC", "", calls=(call,)),
        Message("TR", "Noon", tool_call_id="c1"),
    ]
    recorder = RequestRecorder()
    recorder.record(messages, NOW)
    [one] = recorder.take()
    assert json.loads(one.to_row().messages) == to_api_messages(messages)


def test_images_are_omitted() -> None:
    picture = Image("i", "moon.png", "data:image/png;base64," + "A" * 100_000, 10, 10)
    recorder = RequestRecorder()
    recorder.record([Message("U", "What is this?", images=(picture,))], NOW)
    stored = recorder.take()[0].to_row().messages
    assert len(stored) < 300
    assert "data:image/png;base64,(100022 characters left out)" in stored


@pytest.mark.parametrize("text", ["NUL \x00", "half an emoji \ud83d", 'said "\\u0000"'])
def test_characters_that_postgres_cannot_store_are_replaced(text: str) -> None:
    recorder = RequestRecorder()
    recorder.record([Message("TR", text)], NOW)
    [message] = json.loads(recorder.take()[0].to_row().messages)
    assert message["content"] == text.replace("\x00", "\ufffd").replace("\ud83d", "\ufffd")
