"""What one message of a server may hold is counted before it is parsed, so that no answer stops the loop of all runs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.mcp.client.configuration import MAX_MESSAGE_BYTES, TOO_LARGE
from features.mcp.client.message_limits import MAX_VALUES, TOO_MANY, MessageLimits
from features.mcp.client.result_forms import MAX_MEMBERS, normal_result

pytestmark = pytest.mark.pure


def problem(message: bytes, cut: int = 64_000, *, is_stream: bool = False) -> str:
    limits = MessageLimits(is_stream=is_stream)
    told = (limits.take(message[at : at + cut]) for at in range(0, len(message), cut))
    return next(filter(None, told), "")


@pytest.mark.parametrize("unit", ["{}", "null", "1", "[]", '{"type":"text","text":"a"}', '"\\",[{"'])
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_message_of_too_many_values_is_refused(unit: str, is_stream: bool) -> None:
    message = b'data: {"content":[%s]}' % ",".join([unit] * (MAX_VALUES + 1)).encode()
    assert problem(message, is_stream=is_stream) == TOO_MANY


@pytest.mark.parametrize("cut", [1, 7, 64_000])
def test_a_long_text_is_one_value_whatever_it_says(cut: int) -> None:
    text = 'a,[{"\\' * (MAX_VALUES if cut > 1 else MAX_VALUES // 5)
    assert problem(json.dumps({"content": [{"type": "text", "text": text}]}).encode(), cut) == ""


def test_a_text_that_is_too_long_is_refused_but_no_stream_of_events() -> None:
    text = b'"%s"' % (b"a" * MAX_MESSAGE_BYTES)
    assert problem(text) == TOO_LARGE
    assert problem(text, is_stream=True) == ""


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
@pytest.mark.parametrize("cut", [1, 3, 64_000])
def test_each_event_of_a_stream_counts_by_itself(end: str, cut: int) -> None:
    count = MAX_VALUES if cut > 3 else MAX_VALUES // 10
    event = b'data: {"content":[%s]}' % b",".join([b"1"] * (count // 3))
    assert problem((event + end.encode()) * 20, cut, is_stream=True) == ""


def test_a_string_that_is_cut_behind_a_line_end_hides_nothing() -> None:
    limits = MessageLimits(is_stream=True)
    limits.take(b'data: {"a":\n"b')
    assert not limits.take(b"," * (MAX_VALUES + 1) + b'"')
    assert limits.take(b"," * (MAX_VALUES + 1)) == TOO_MANY


JSON = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(JSON, st.integers(1, 40), st.booleans())
def test_the_count_of_json_does_not_depend_on_how_it_is_cut(value: object, cut: int, is_ascii: bool) -> None:
    message = json.dumps(value, ensure_ascii=is_ascii).encode(errors="replace")
    whole, pieces = MessageLimits(), MessageLimits()
    assert not whole.take(message)
    assert problem(message, cut) == ""
    for at in range(0, len(message), cut):
        pieces.take(message[at : at + cut])
    assert pieces._values == whole._values


def test_of_many_blocks_the_first_are_read_and_the_model_is_told() -> None:
    found = normal_result({"content": [{}] * 5_000})["content"]
    assert len(found) == MAX_MEMBERS + 1
    assert found[-1]["text"] == "(Cut off: the result has 5000 blocks.)"
