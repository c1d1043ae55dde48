"""Whole completions are read in the shapes in which streams are, and hold what was said without the reasoning."""

import json
from typing import Any

import pytest

from chat.transcript.usage import TokenUsage
from llm_worker.upstream.chat_completion import parse_completion
from llm_worker.upstream.deltas import ModelFailed
from tests.llm_worker.upstream.any_chunks import STOP, events, said

pytestmark = pytest.mark.pure

THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "let me think"}]}


def whole(message: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **more}).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(whole({"content": "Hello"}), id="a text"),
        pytest.param(whole({"content": [{"type": "text", "text": "Hello"}]}), id="a list of parts"),
        pytest.param(whole({"content": [THINKING, {"type": "text", "text": "Hello"}]}), id="thinking parts"),
        pytest.param(whole({"content": {"text": "Hello"}, "reasoning": {"text": "hm"}}), id="objects"),
        pytest.param(whole({"content": "Hello", "tool_calls": [None], "refusal": False}), id="null for a call"),
        pytest.param(b"\xef\xbb\xbf" + whole({"content": "Hello"}), id="a byte order mark"),
        pytest.param(b" \n" + whole({"content": "Hello"}) + b"\n", id="white space around it"),
        pytest.param(b"[" + whole({"content": "Hello"}) + b"]", id="in a list"),
        pytest.param(whole({"content": "Hello"}, usage=[7]), id="a usage that is none"),
        pytest.param(events(said(content="Hel"), said(content="lo"), STOP), id="streamed all the same"),
        pytest.param(b'{"choices": [{"text": "Hello", "finish_reason": "stop"}]}', id="as its predecessor"),
    ],
)  # fmt: skip
def test_the_text_is_read_whatever_its_shape(body: bytes) -> None:
    completion = parse_completion(body)
    assert (completion.text, completion.finish_reason) == ("Hello", "stop")


@pytest.mark.parametrize(("count", "kept"), [(7.6, 8), (-1, 0), (2**31, 2**31 - 1), ("many", None)])
def test_counts_are_kept_within_their_column(count: Any, kept: int | None) -> None:
    body = whole({"content": "Hello"}, usage={"prompt_tokens": count, "completion_tokens": 1})
    assert parse_completion(body).usage == TokenUsage(kept, 1)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error": {"message": "Insufficient balance", "code": "1113"}}', "upstream_quota"),
        (b'{"choices": []}', "upstream_malformed"),
        (b"<html><h1>Log in</h1></html>", "upstream_malformed"),
        (b"", "upstream_malformed"),
        (events(said(content="Hel")), "upstream_interrupted"),
        (whole({"content": "Hal"}).replace(b'"stop"', b'"error"'), "upstream_interrupted"),
    ],
)
def test_what_is_no_completion_fails_by_its_words(body: bytes, code: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        parse_completion(body)
    assert failed.value.code == code
