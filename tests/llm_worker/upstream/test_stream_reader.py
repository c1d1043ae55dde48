"""Streams in the dialects of different servers: the answer is read, and no detail turns it into a failure."""

import json
from typing import Any

import pytest
from hypothesis import given

from chat.transcript.usage import MAX_TOKENS, TokenUsage
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta, ToolCallDelta
from llm_worker.upstream.stream_reader import StreamReader
from tests.llm_worker.upstream.any_chunks import KEPT, STOP, AnyStream, events, said, streams

pytestmark = pytest.mark.pure


def read(stream: bytes, *cuts: int) -> tuple[list[Delta], StreamReader]:
    """The deltas of a body that arrives in pieces, and the reader at its end."""
    reader, deltas = StreamReader(), list[Delta]()
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        if not (reader.failure or reader.is_done):
            deltas += reader.take(stream[start:stop])
    return deltas + reader.end(), reader


def shown(deltas: list[Delta]) -> tuple[str, str]:
    """All text, and all reasoning."""
    return tuple(
        "".join(one.text for one in deltas if isinstance(one, kind)) for kind in (TextDelta, ReasoningDelta)
    )  # type: ignore[return-value]


THINKING = [{"type": "thinking", "thinking": [{"type": "text", "text": "let me think"}]}]


@pytest.mark.parametrize(
    ("delta", "text", "reasoning"),
    [
        pytest.param({"content": [{"type": "text", "text": "Hi"}]}, "Hi", "", id="a list of parts"),
        pytest.param({"content": THINKING}, "", "let me think", id="thinking parts"),
        pytest.param({"content": [*THINKING, {"type": "text", "text": "Hi"}]}, "Hi", "let me think", id="both"),
        pytest.param({"content": ["H", {"text": "i"}]}, "Hi", "", id="parts without a type"),
        pytest.param({"content": {"type": "text", "text": "Hi"}}, "Hi", "", id="a single part"),
        pytest.param({"content": {"thinking": "hm"}}, "", "hm", id="a single thinking part"),
        pytest.param({"content": 7}, "", "", id="a number"),
        pytest.param({"content": False}, "", "", id="false"),
        pytest.param({"content": [None, 7, {"type": "image"}, {"text": "Hi"}]}, "Hi", "", id="unknown parts"),
        pytest.param({"content": "Hi", "reasoning": {"text": "hm"}}, "Hi", "hm", id="reasoning as an object"),
        pytest.param({"content": "Hi", "reasoning": {"effort": 1}}, "Hi", "", id="reasoning without text"),
        pytest.param({"reasoning_content": ["h", "m"], "content": "Hi"}, "Hi", "hm", id="reasoning in a list"),
        pytest.param({"content": "Hi", "refusal": False}, "Hi", "", id="no refusal"),
        pytest.param({"content": "Hi", "tool_calls": [None]}, "Hi", "", id="null for a call"),
        pytest.param({"content": "Hi", "tool_calls": "none"}, "Hi", "", id="calls as text"),
    ],
)  # fmt: skip
def test_members_of_other_types_are_read_or_skipped(delta: Any, text: str, reasoning: str) -> None:
    deltas, reader = read(events(said(**delta), STOP))
    assert (shown(deltas), reader.failure) == ((text, reasoning), None)
    assert Finished("stop") in deltas


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [None, {"delta": {"content": "Hi"}}]},
        {"choices": {"delta": {"content": "Hi"}}},
        {"choices": [{"message": {"content": "Hi"}}]},
        {"choices": [{"delta": None, "message": {"role": "assistant", "content": "Hi"}}]},
        {"choices": [{"delta": {"content": "Hi"}, "finish_reason": 7}]},
        {"choices": [{"delta": {"content": "Hi"}}], "usage": "none"},
        {"choices": [{"text": "Hi", "finish_reason": False}]},
    ],
)
def test_choices_of_other_shapes_are_read(chunk: Any) -> None:
    deltas, reader = read(events(chunk, STOP))
    assert (shown(deltas)[0], reader.failure) == ("Hi", None)


def test_a_single_call_and_its_index_are_read_whatever_their_types() -> None:
    call = {"index": "1", "id": 5, "function": {"name": "act", "arguments": {"a": 1}}}
    deltas, _ = read(events(said(tool_calls=call), STOP))
    assert deltas[0] == ToolCallDelta(1, "5", "act", '{"a":1}')


def test_what_is_skipped_is_counted_by_name() -> None:
    _, reader = read(
        events(said(content=7), said(content=False), {"choices": [None]}, b"data: ping\n\n", STOP)
    )
    assert reader.skipped == {"content": 2, "choices": 1, "event": 1}


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        (14417.92, 14418), (-1_000_000, 0), (2**31, MAX_TOKENS), (10**400, MAX_TOKENS), ("12", 12), (3, 3),
        ("many", None), (None, None), ([7], None), (True, None), ({}, None), (float("nan"), None), (float("inf"), None),
    ],
)  # fmt: skip
def test_a_count_is_rounded_and_within_its_column_or_unknown(count: Any, kept: int | None) -> None:
    usage = {
        "prompt_tokens": count,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": count},
    }
    deltas, reader = read(events(said(content="a"), {**STOP, "usage": usage}))
    assert (deltas[0], deltas[-1]) == (TextDelta("a"), TokenUsage(kept, 3, kept))
    assert reader.failure is None


def test_sums_of_counts_stay_within_their_column() -> None:
    assert TokenUsage(MAX_TOKENS, 1).plus(TokenUsage(MAX_TOKENS, None, 2)) == TokenUsage(MAX_TOKENS, 1, 2)


@pytest.mark.parametrize(
    "noise",
    [
        b"data: \n\n", b"data:\n\n", b"data\n\n", b"data: ping\n\n", b": keep-alive\n\n", b"data: null\n\n",
        b'data: "OPEN"\n\n', b'data: {"type": "ping"}\n\n', b"event: ping\ndata: {}\n\n", b"\n\n\n",
    ],
)  # fmt: skip
def test_heartbeats_are_passed_over_first_and_in_between(noise: bytes) -> None:
    stream = events(
        noise, said(content="One "), noise, said(content="two"), noise, STOP, noise, b"data: [DONE]\n\n"
    )
    for cuts in ((), tuple(range(1, len(stream)))):
        deltas, reader = read(stream, *cuts)
        assert (shown(deltas)[0], reader.failure, reader.is_done) == ("One two", None, True)


@pytest.mark.parametrize(
    "end", [b"data: [DONE] \n\n", b"data:  [DONE]\t\n\n", b"data:[DONE]\n\n", b"data: [DONE]"]
)
def test_blanks_around_done_do_not_matter(end: bytes) -> None:
    deltas, reader = read(events(said(content="Hi"), end))
    assert (shown(deltas)[0], reader.failure) == ("Hi", None)


@pytest.mark.parametrize("cut", range(8))
def test_one_byte_order_mark_is_stripped_however_it_is_split(cut: int) -> None:
    stream = b"\xef\xbb\xbf" + events(said(content="First "), said(content="second"), STOP)
    deltas, reader = read(stream, *range(1, cut))
    assert (shown(deltas)[0], reader.failure) == ("First second", None)


def test_the_last_event_counts_without_its_blank_line() -> None:
    deltas, reader = read(events(said(content="Hi"), STOP).rstrip())
    assert (deltas, reader.failure) == ([TextDelta("Hi"), Finished("stop")], None)


@pytest.mark.parametrize(
    "rest", [b"data: {nonsense\n\n", b"data: [[[\n\n", b'data: {"error": {"message": "late"}}\n\n', b"data: x" * 700_000]
)  # fmt: skip
def test_after_a_finish_reason_nothing_fails_and_usage_still_counts(rest: bytes) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    answer = events(said(content="Hi"), STOP)
    deltas, reader = read(answer + rest, len(answer))
    assert (deltas, reader.failure) == ([TextDelta("Hi"), Finished("stop")], None)
    if rest.endswith(b"\n\n"):
        deltas, _ = read(events(said(content="Hi"), STOP, rest, usage))
        assert deltas[-1] == TokenUsage(3, 1)


@pytest.mark.parametrize(
    "reason", ["error", "network_error", "ABORT", "cancelled", "insufficient_system_resource"]
)
def test_an_answer_that_its_server_broke_off_is_interrupted_and_its_text_kept(reason: str) -> None:
    last = {"choices": [{"delta": {"content": "ans"}, "finish_reason": reason}]}
    deltas, reader = read(events(said(content="Half an "), last, b"data: [DONE]\n\n"))
    assert shown(deltas)[0] == "Half an ans"
    assert reader.failure is not None
    assert (reader.failure.code, reader.is_retryable) == ("upstream_interrupted", False)
    assert reason in reader.failure.detail


def test_an_error_beside_a_choice_keeps_its_words_and_the_text_of_its_chunk() -> None:
    broken = {
        "delta": {"content": "ans"},
        "finish_reason": "error",
        "error": {"code": 502, "message": "GPU lost"},
    }
    top = {
        "error": {"message": "GPU lost"},
        "choices": [{"delta": {"content": "ans"}, "finish_reason": "error"}],
    }
    for chunk in ({"choices": [broken]}, {"choices": [None, broken]}, top):
        deltas, reader = read(events(said(content="Half an "), chunk))
        assert shown(deltas)[0] == "Half an ans"
        assert reader.failure is not None
        assert reader.failure.detail == "GPU lost"


WHOLE = {
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "reasoning_content": "hm",
                "content": "The whole answer",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "act", "arguments": "{}"}}],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}  # fmt: skip


ACT = {"index": 0, "id": "a", "function": {"name": "act", "arguments": "{}"}}


def test_a_message_that_repeats_what_was_streamed_ends_the_answer_and_adds_nothing() -> None:
    streamed = said(reasoning_content="hm"), said(content="The whole answer"), said(tool_calls=[ACT])
    for whole in (WHOLE, {"choices": [WHOLE["choices"][0] | {"delta": None}], "usage": WHOLE["usage"]}):  # type: ignore[index,operator]
        deltas, reader = read(events(*streamed, whole, b"data: [DONE]\n\n"))
        assert (reader.failure, deltas) == (
            None,
            [
                ReasoningDelta("hm"),
                TextDelta("The whole answer"),
                ToolCallDelta(0, "a", "act", "{}"),
                Finished("tool_calls"),
                TokenUsage(3, 1),
            ],
        )
    broken = {"choices": [{"message": {"content": "The whole"}, "finish_reason": "error"}]}
    _, reader = read(events(*streamed, broken))
    assert reader.failure is not None


def test_messages_instead_of_deltas_all_count() -> None:
    deltas, _ = read(events(*({"choices": [{"message": {"content": text}}]} for text in ("The ", "answer"))))
    assert shown(deltas)[0] == "The answer"


def message(**members: object) -> dict[str, object]:
    return {"choices": [{"delta": None, "message": members}]}


@pytest.mark.parametrize(
    ("streamed", "expected"),
    [
        pytest.param(
            [said(reasoning_content="hm"), message(content="Hi", reasoning_content="hm")],
            [ReasoningDelta("hm"), TextDelta("Hi")],
            id="reasoning came, the answer did not",
        ),
        pytest.param(
            [said(content="Let me look."), message(content="Let me look.", tool_calls=[ACT])],
            [TextDelta("Let me look."), ToolCallDelta(0, "a", "act", "{}")],
            id="text came, the calls did not",
        ),
        pytest.param(
            [message(content="Hel"), message(content="lo")],
            [TextDelta("Hel"), TextDelta("lo")],
            id="messages beside empty deltas",
        ),
        pytest.param(
            [said(role="assistant"), message(content="Hel"), message(content="lo")],
            [TextDelta("Hel"), TextDelta("lo")],
            id="messages after a delta without text",
        ),
    ],
)
def test_of_a_message_what_has_not_been_streamed_counts(
    streamed: list[dict[str, object]], expected: list[object]
) -> None:
    deltas, _ = read(events(*streamed))
    assert [delta for delta in deltas if not isinstance(delta, Finished)] == expected


def test_the_members_of_a_call_beside_text_are_kept() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "s1g"}}}
    call = {"index": 0, "id": "a", "function": {"name": "act", "arguments": "{}"}} | signed
    deltas, _ = read(events(said(content="Let me see.", tool_calls=[call]), STOP))
    assert [delta.members for delta in deltas if isinstance(delta, ToolCallDelta)] == [signed]


@pytest.mark.parametrize("cut", [1, 40])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\n \n"])
def test_a_completion_instead_of_a_stream_is_the_answer(cut: int, before: bytes) -> None:
    deltas, reader = read(before + json.dumps(WHOLE).encode(), cut)
    assert deltas == [
        ReasoningDelta("hm"),
        TextDelta("The whole answer"),
        ToolCallDelta(-1, "a", "act", "{}"),
        Finished("tool_calls"),
        TokenUsage(3, 1),
    ]
    assert reader.failure is None


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ('{"error": {"message": "Your account is not active", "code": "off"}}', "upstream_rejected", "Your account is not active"),
        ('{"error": {"message": "Insufficient credits", "code": 402}}', "upstream_quota", "Insufficient credits"),
        ('{"message": "slow down", "code": 429}', "upstream_rate_limited", "slow down"),
        ('[{"error": {"code": 503, "message": "overloaded"}}]', "upstream_unavailable", "overloaded"),
        ("<html><style>p{}</style><h1>Log in</h1></html>", "upstream_malformed", "Log in"),
        ("Nothing here", "upstream_malformed", "Nothing here"),
        ('{"id": 7}', "upstream_malformed", '{"id": 7}'),
        ('{"choices": []}', "upstream_malformed", '{"choices": []}'),
        ("{broken", "upstream_malformed", "{broken"),
        ("data: ping\n\n", "upstream_malformed", "ping"),
        ('data: {"message": "no such thing", "code": "x"}\n\n', "upstream_malformed", "no such thing"),
        ("event: error\ndata: {\"message\": \"CUDA\", \"type\": \"x\"}\n\n", "upstream_interrupted", "CUDA"),
        ("event: error\ndata: CUDA\n\n", "upstream_interrupted", "CUDA"),
        ("error: CUDA\n\n", "upstream_interrupted", "CUDA"),
    ],
)  # fmt: skip
def test_what_is_no_answer_fails_with_its_words_and_is_not_asked_for_again(
    body: str, code: str, words: str
) -> None:
    deltas, reader = read(body.encode())
    assert deltas == []
    assert reader.failure is not None
    assert (reader.failure.code, reader.is_retryable) == (code, False)
    assert reader.failure.detail.endswith(words)


def test_a_body_that_ends_in_the_middle_may_be_asked_for_again() -> None:
    for body in (b"", b'data: {"choi', b"event: x\n"):
        _, reader = read(body)
        assert isinstance(reader.failure, ModelFailed)
        assert (reader.failure.code, reader.is_retryable) == ("upstream_interrupted", True)


# Any JSON in any member, any split of bytes, any order of chunks.


@given(streams)
def test_any_bytes_end_and_the_text_before_is_kept(stream: AnyStream) -> None:
    deltas, reader = read(stream.body, *stream.cuts)
    assert reader.failure is None or isinstance(reader.failure, ModelFailed)
    assert reader.has_finished or reader.failure
    once, again = read(stream.body)
    assert shown(once) == shown(deltas)
    assert (again.failure and again.failure.code) == (reader.failure and reader.failure.code)
    if not stream.is_whole and not read(events(*stream.before))[1].failure:
        assert KEPT in shown(deltas)[0]
    for usage in (delta for delta in deltas if isinstance(delta, TokenUsage)):
        assert all(count is None or 0 <= count <= MAX_TOKENS for count in usage)
