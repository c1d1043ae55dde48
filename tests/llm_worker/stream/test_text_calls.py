"""Tool calls written into the answer are found however the text is split; all other text is unchanged."""

import json
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.stream.text_calls import LONGEST_CALL, TextCalls

pytestmark = pytest.mark.pure

OFFERED = {
    "find": {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}, "deep": {"type": "object"}},
    },
    "time": {"type": "object", "properties": {}},
}
CALL = '{"name": "find", "arguments": {"q": "a } b"}}'
FIND = [("find", {"q": "a } b"})]
TIME = '{"name":"time","arguments":{}}'
INVOKE = (
    '<invoke name="find"><parameter name="q">rivers</parameter><parameter name="n">3</parameter></invoke>'
)
INVOKED = [("find", {"q": "rivers", "n": 3})]


def read(pieces, offered=OFFERED):
    numbers = count(1)
    calls = TextCalls(offered, lambda: f"own_{next(numbers)}")
    shown = "".join([calls.feed(piece) for piece in pieces] + [calls.flush()])
    assert [call.id for call in calls.calls] == [f"own_{n + 1}" for n in range(len(calls.calls))]
    return shown, [(call.name, call.arguments) for call in calls.calls]


FOUND = [
    pytest.param(CALL, "", FIND, id="an object"),
    pytest.param(f"I look.\n\n{CALL}\n", "I look.\n\n\n", FIND, id="an object below a sentence"),
    pytest.param(f"I look: {CALL}", "I look: ", FIND, id="an object behind a sentence"),
    pytest.param(f"{TIME}\n{CALL}", "\n", [("time", {}), *FIND], id="two objects"),
    pytest.param(f"Look:\n```json\n{CALL}\n```\nSo.", "Look:\n\nSo.", FIND, id="in a fence"),
    pytest.param(f"```\n{CALL}\n```", "", FIND, id="in a fence without a language"),
    pytest.param(f"```\nx\n```\n{CALL}\n", "```\nx\n```\n\n", FIND, id="behind a fence"),
    pytest.param(f"<tool_call>\n{CALL}\n</tool_call>", "", FIND, id="tagged"),
    pytest.param(f"<tool_call>{CALL}", "", FIND, id="tagged, without its end"),
    pytest.param(
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{TIME}</tool_call>",
        "\n",
        [*FIND, ("time", {})],
        id="two tags",
    ),
    pytest.param(f"```xml\n<tool_call>{CALL}</tool_call>\n```", "", FIND, id="tagged in a fence"),
    pytest.param(
        f"So <function_calls>\n{INVOKE}\n</function_calls>.",
        "So .",
        INVOKED,
        id="markup, typed by the schema",
    ),
    pytest.param(f"<function_calls>{INVOKE}", "", INVOKED, id="markup, without its end"),
    pytest.param(
        f"<function_calls>{INVOKE}<invoke name='none'></invoke></function_calls>",
        "",
        [*INVOKED, ("none", {})],
        id="markup that names another tool too",
    ),
    pytest.param(
        '<function_calls><invoke name="find"><parameter name="n">many</parameter>'
        '<parameter name="deep">{"a": [1]}</parameter><parameter name="x">1</parameter></invoke></function_calls>',
        "",
        [("find", {"n": "many", "deep": {"a": [1]}, "x": "1"})],
        id="markup with values of all kinds",
    ),
    pytest.param('{"tool": "find", "parameters": {"q": 1}}', "", [("find", {"q": 1})], id="parameters"),
    pytest.param(
        '{"type": "function", "function": {"name": "find", "arguments": "{\\"q\\": 1}"}}',
        "",
        [("find", {"q": 1})],
        id="as the API has it",
    ),
    pytest.param('{"arguments": {"q": 1}, "name": "find"}', "", [("find", {"q": 1})], id="arguments first"),
    pytest.param('{"name": "find", "arguments": "rivers"}', "", [("find", None)], id="broken arguments"),
    pytest.param(
        '{"name": "find", "arguments": {"q": "a\nb"}}', "", [("find", {"q": "a\nb"})], id="a raw line break"
    ),
]
ORDINARY = [
    '{"name": "Alice", "arguments": {"q": 1}}',
    '{"name": "find", "description": "Looks.", "parameters": {"type": "object"}}',
    '{"name": "find"}',
    '{"name": "finder", "arguments": {}}',
    f'{{"steps": [{CALL}]}}',
    f'{{\n  "steps": [\n{CALL},\n{CALL}\n]}}',
    f'{{"step":\n{CALL}}}',
    f"call = {CALL}",
    '```json\n{"a": {"name": "find"}}\n```',
    "```python\nprint({})\n```",
    '{"name": "find", "arguments": {"q": "cut off',
    '{"name": "find", "arguments": {q: 1}} and a long explanation of what is wrong with it',
    '{"arguments": [1, 2], "more": true}',
    '{"type": "function", "function": {"name": "other", "arguments": {}}}',
    "Use `<tool_call>` or <function_calls> to call a tool.",
    '<function_calls><invoke name="other"></invoke></function_calls>',
    '<function_calls><invoke name="find"><parameter name="q">cut off',
    "<tool_call>no object</tool_call>",
    "<b>bold</b> {x} {{y}} ``` ` <",
    "{" * 50,
    '{"a":' * 5_000,
    "",
]


def in_steps(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize(("written", "shown", "calls"), FOUND)
def test_a_call_is_found_and_not_shown(written, shown, calls, size):
    assert read(in_steps(written, size)) == (shown, calls)


def test_a_parameter_that_is_nested_too_deep_is_text():
    deep = "[" * 20_000
    markup = f'<function_calls><invoke name="find"><parameter name="deep">{deep}</parameter></invoke></function_calls>'
    assert read([markup]) == ("", [("find", {"deep": deep})])


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("written", ORDINARY)
def test_text_that_is_not_a_call_is_unchanged(written, size):
    assert read(in_steps(written, size)) == (written, [])


@pytest.mark.parametrize("written", [each.values[0] for each in FOUND])
def test_without_offered_tools_no_call_is_found(written):
    assert read(list(written), offered={}) == (written, [])


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["Hel", "lo.\n{"], ["Hel", "lo.\n"]),
        (["{", '"na', 'me": "Al', 'ice"}'], ["", "", '{"name": "Al', 'ice"}']),
        (["<", "b", ">"], ["", "<b", ">"]),
        (["```", "py", "\nx"], ["", "```py", "\nx"]),
        ([CALL[:20], CALL[20:-1], "} and"], ["", "", " and"]),
    ],
)
def test_only_a_possible_call_is_held_back(pieces, shown):
    calls = TextCalls(OFFERED, lambda: "own")
    assert [calls.feed(piece) for piece in pieces] == shown


@pytest.mark.parametrize("size", [1_000, 1_000_000])
@pytest.mark.parametrize(
    "opening",
    ['{"name": "find", "arguments": {"q": "', '<function_calls><invoke name="find"><parameter name="q">'],
)
def test_the_held_text_is_bounded(opening, size):
    calls = TextCalls(OFFERED, lambda: "own")
    written = opening + "x" * (2 * LONGEST_CALL)
    shown = "".join(calls.feed(piece) for piece in in_steps(written, size))
    assert shown + calls.flush() == written
    assert len(shown) >= LONGEST_CALL


snippets = st.sampled_from(
    [CALL, TIME, INVOKE, "<function_calls>", "</function_calls>", "<tool_call>", "</tool_call>", "```json\n", "```",
     "\n", " ", "{", "}", "[", "]", '"', ":", ",", "So.", "`", "<", '{"name": "find", ', '"arguments": {}}', "\\"]
)  # fmt: skip


@given(text=st.lists(snippets, max_size=12).map("".join), cuts=st.lists(st.integers(0, 500), max_size=12))
def test_the_result_does_not_depend_on_how_the_text_is_split(text, cuts):
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    assert read([text[start:stop] for start, stop in pairwise(places)]) == read([text])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=values, indent=st.sampled_from([None, 1, 2]), size=st.integers(1, 20))
def test_json_that_names_no_tool_is_text(value, indent, size):
    written = f"Here:\n{json.dumps(value, indent=indent)}\nDone."
    assert read(in_steps(written, size)) == (written, [])
