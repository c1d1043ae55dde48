"""Strategies for what a model server may send: any JSON in any member, any order of chunks, any split of the bytes."""

import json
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

STOP = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def said(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def events(*chunks: Any) -> bytes:
    """Chunks as events; bytes as they are."""
    return b"".join(
        chunk if isinstance(chunk, bytes) else b"data: %b\n\n" % json.dumps(chunk).encode()
        for chunk in chunks
    )


# The text of a chunk that every stream has.
KEPT: Final = "kept"

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "thinking", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def mostly(usual: st.SearchStrategy[Any], *values: Any) -> st.SearchStrategy[Any]:
    """Three times of four as it should be, or one of these values."""
    as_it_should_be = usual | st.sampled_from(values) if values else usual
    return st.integers(0, 3).flatmap(lambda dice: as_it_should_be if dice else anything)


def members(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly an object with some of these members."""
    return mostly(st.fixed_dictionaries({}, optional=optional))


REASONS: Final = ("stop", "tool_calls", "length", "content_filter", "error", "SAFETY", "mumbled")
counts = mostly(st.integers(0, 9))
functions = members(name=mostly(st.just("current_time")), arguments=mostly(st.just("{}")))
calls = members(index=mostly(st.just(0)), id=anything, function=functions)
answers = members(
    content=anything,
    reasoning_content=anything,
    reasoning=anything,
    refusal=mostly(st.none()),
    tool_calls=mostly(st.lists(calls, max_size=2)),
    function_call=functions,
)
choices = members(
    delta=answers,
    message=answers,
    finish_reason=mostly(st.none(), *REASONS),
    error=mostly(st.none()),
)
usages = members(prompt_tokens=counts, completion_tokens=counts, prompt_tokens_details=anything)
chunks = members(
    choices=mostly(st.lists(choices, max_size=2)),
    usage=usages,
    error=mostly(st.none()),
    object=mostly(st.just("chat.completion.chunk")),
)
# How a stream ends: as it should, or in any bytes.
ends = st.just(events(STOP, b"data: [DONE]\n\n")) | st.binary(max_size=8)


class AnyStream(NamedTuple):
    """The body of a response, and where it is cut. before: the chunks before KEPT.  is_whole: it is a JSON value instead."""

    body: bytes
    cuts: list[int]
    before: list[Any]
    is_whole: bool

    @property
    def pieces(self) -> list[bytes]:
        stops = [*self.cuts, len(self.body)]
        return [self.body[start:stop] for start, stop in zip([0, *self.cuts], stops, strict=True)]


@st.composite
def any_stream(draw: st.DrawFn) -> AnyStream:
    before, after = draw(st.lists(chunks, max_size=3)), draw(st.lists(chunks, max_size=3))
    body = events(*before, said(content=KEPT), *after, draw(ends))
    if is_whole := draw(st.sampled_from([False, False, False, True])):
        body = json.dumps(after[0] if after else None).encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=6)))
    return AnyStream(body, cuts, before, is_whole)


streams = any_stream()
