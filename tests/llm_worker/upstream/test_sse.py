"""Server-sent events are decoded the same however the bytes are split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.upstream import sse

pytestmark = pytest.mark.pure

payloads = st.lists(
    st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1, max_size=3),
    max_size=5,
)
noise = st.sampled_from(["", ": keep-alive{end}", "event: message{end}", "id: 7{end}", "retry: 10{end}{end}"])


@given(
    payloads=payloads,
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    noise=noise,
    space=st.booleans(),
    data=st.data(),
)
def test_events_are_the_same_however_the_bytes_are_split(payloads, ends, noise, space, data):
    stream = b""
    for lines in payloads:
        stream += noise.format(end=ends).encode()
        # Without a space only where the line does not begin with one: that one belongs to the field.
        stream += b"".join(
            (f"data: {line}" if space or line.startswith(" ") else f"data:{line}").encode() + ends.encode()
            for line in lines
        )
        stream += ends.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    splitter = sse.EventSplitter()
    got = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += splitter.feed(stream[start:stop])
    assert got == [event for lines in payloads if (event := "\n".join(lines).encode())]


def test_an_event_without_its_blank_line_is_not_an_event():
    assert sse.EventSplitter().feed(b'data: {"choices"') == []
    assert sse.EventSplitter().feed(b"data: [DONE]\n") == []


@pytest.mark.parametrize(
    "piece", [b"x" * 16_384, b"data: " + b"x" * 16_000 + b"\n"], ids=["one line", "many lines"]
)
def test_an_oversize_event_is_rejected(piece):
    splitter = sse.EventSplitter()
    with pytest.raises(sse.EventTooLong):
        sum(len(splitter.feed(piece)) for _ in range(10 * 1024 * 1024 // len(piece)))
