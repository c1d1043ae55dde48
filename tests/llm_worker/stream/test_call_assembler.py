"""Tool calls are assembled completely from the deltas of differing servers."""

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.stream.call_assembler import CallAssembler, RequestedCall, parse_arguments
from llm_worker.upstream.chunks import parse_chunk
from llm_worker.upstream.deltas import NO_INDEX, ToolCallDelta
from tests.upstream_steps import numbered, pieces

pytestmark = pytest.mark.pure

NO = NO_INDEX


def assembled(deltas):
    """(the calls, what was shown of each tab)"""
    numbers = count(1)
    assembler = CallAssembler(lambda: f"own_{next(numbers)}", ["find", "time"])
    shown = {}
    for delta in deltas:
        if piece := assembler.feed(ToolCallDelta(*delta)):
            assert piece.begins == (piece.tab not in shown)
            shown.setdefault(piece.tab, []).append(piece)
    calls = assembler.calls()
    for tab, call in enumerate(calls):
        assert {(piece.id, piece.name) for piece in shown[tab]} == {(call.id, call.name)}
        assert "".join(piece.text for piece in shown[tab]) == call.raw
    assert list(shown) == list(range(len(calls)))
    return calls


def seen(calls):
    return [f"{call.id} {call.name} {call.raw}" for call in calls]


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [(0, "a", "find", ""), (0, "", "", '{"q"'), (0, "", "", ":1}")],
            ['a find {"q":1}'],
            id="as OpenAI streams it",
        ),
        pytest.param(
            [(0, "a", "find", ""), (1, "b", "time", ""), (0, "", "", "{}"), (1, "", "", "[]")],
            ["a find {}", "b time []"],
            id="parallel calls interleave",
        ),
        pytest.param(
            [(0, "a", "find", '{"q":1}'), (0, "b", "find", '{"q":2}')],
            ['a find {"q":1}', 'b find {"q":2}'],
            id="whole calls, all with index 0",
        ),
        pytest.param(
            [(0, "", "find", '{"q":1}'), (0, "", "find", '{"q":2}')],
            ['own_1 find {"q":1}', 'own_2 find {"q":2}'],
            id="whole calls without ids",
        ),
        pytest.param(
            [(NO, "", "find", "{}"), (NO, "", "time", "{}")],
            ["own_1 find {}", "own_2 time {}"],
            id="neither ids nor indexes",
        ),
        pytest.param(
            [(NO, "a", "find", ""), (NO, "b", "time", ""), (NO, "a", "", "{}"), (NO, "b", "", "[]")],
            ["a find {}", "b time []"],
            id="ids instead of indexes",
        ),
        pytest.param(
            [(NO, "", "find", ""), (NO, "", "", '{"q"'), (NO, "", "", ":1}")],
            ['own_1 find {"q":1}'],
            id="function_call",
        ),
        pytest.param(
            [(0, "a", "find", '{"q'), (0, "a", "find", '":1}'), (0, "a", "find", "")],
            ['a find {"q":1}'],
            id="id and name with every piece",
        ),
        pytest.param(
            [(0, "a", "find", '{"q'), (0, "x", "", '":'), (0, "y", "", "1}")],
            ['a find {"q":1}'],
            id="another id with every piece",
        ),
        pytest.param(
            [(0, "a", "find", "{}"), (1, "a", "time", "{}")],
            ["a find {}", "own_1 time {}"],
            id="two calls with one id",
        ),
        pytest.param(
            [(0, "a", "", ""), (0, "", "", '{"q"'), (0, "", "find", ""), (0, "", "", ":1}")],
            ['a find {"q":1}'],
            id="the name comes late",
        ),
        pytest.param(
            [(3, "", "", "{}"), (7, "b", "time", ""), (2, "c", "find", "")],
            ["b time ", "c find "],
            id="no name, no call; odd indexes",
        ),
        pytest.param(
            [(0, "a", " web search.now! ", "{}")], ["a web_search_now_ {}"], id="a name to send back"
        ),
        pytest.param(
            [(0, "a", "find<|channel|>commentary", "{"), (0, "", "find<|channel|>json", "}")],
            ["a find {}"],
            id="the format of gpt-oss behind the name",
        ),
        pytest.param(
            [
                (0, "a", "functions.find", "{}"),
                (1, "b", "functions.other<|x|>", "{}"),
                (2, "c", "<|x|>", "{}"),
            ],
            ["a find {}", "b functions_other {}", "c __x__ {}"],
            id="the namespace of gpt-oss before it",
        ),
        pytest.param(
            [(0, "a", "find", "\x00{\ud83d")], ["a find \ufffd{"], id="characters that cannot be stored"
        ),
        pytest.param([(0, "a", "find", "\ud83c"), (0, "", "", "\udf0a")], ["a find 🌊"], id="half an emoji"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_calls_are_assembled_from_their_deltas(deltas, calls):
    assert seen(assembled(deltas)) == calls


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"q": [1, {"a": null}]}', {"q": [1, {"a": None}]}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ('"{\\"q\\": 1}"', {"q": 1}),
        ('{"q": "two\nlines"}', {"q": "two\nlines"}),
        ('{"q": "\\u0000 \\ud800 \\ud83c\\udf0a"}', {"q": "\ufffd \ufffd 🌊"}),
        ('{"q": 1', None),
        ("[1]", None),
        ("1", None),
        ('"a question"', None),
        ('"\\"twice\\""', None),
        ('{"q": NaN}', None),
        ('{"q": -Infinity}', None),
        ('{"q": 1e999}', None),
        ('{"q": 1} and more', None),
        ('{"q":' * 100_000, None),
    ],
)
def test_arguments_are_a_storable_object_or_none(raw, arguments):
    assert parse_arguments(raw) == arguments


names = st.sampled_from(["find", "time", "research"])
objects = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20), max_size=4)


@given(asked=st.lists(st.tuples(names, objects), max_size=5), size=st.integers(1, 9), cut=st.booleans())
def test_calls_are_the_same_however_they_are_split_into_deltas(asked, size, cut):
    steps = [{"call": {"name": n, "arguments": a, "id": f"call_{i}", "pieces": size if cut else 0}}
             for i, (n, a) in enumerate(asked)]  # fmt: skip
    body = {"messages": [], "model": "scripted"}
    events = [event for step in numbered(steps) for event in pieces(step, body)]
    deltas = [delta for event in events for delta in parse_chunk(event.removeprefix(b"data: "))]
    assert assembled(deltas) == [
        RequestedCall(f"call_{i}", name, parse_arguments(json.dumps(arguments)), json.dumps(arguments))
        for i, (name, arguments) in enumerate(asked)
    ]


@pytest.mark.parametrize(
    ("delta", "deltas"),
    [
        pytest.param(
            {"tool_calls": [{"index": 1, "id": "a", "type": "function", "function": {"name": "find"}}]},
            [ToolCallDelta(1, "a", "find", "")],
            id="a beginning",
        ),
        pytest.param(
            {"tool_calls": [{"id": 7, "function": {"name": "find", "arguments": {"q": "é"}}}, {}]},
            [ToolCallDelta(NO, "7", "find", '{"q":"é"}'), ToolCallDelta(NO, "", "", "")],
            id="arguments as an object, no index, an id that is a number",
        ),
        pytest.param(
            {"tool_calls": [{"index": "0", "id": None, "function": {"arguments": "{"}}]},
            [ToolCallDelta(NO, "", "", "{")],
            id="an index that is none",
        ),
        pytest.param(
            {"function_call": {"name": "find", "arguments": "{}"}, "tool_calls": None},
            [ToolCallDelta(NO, "", "find", "{}")],
            id="as old servers say it",
        ),
    ],
)
def test_the_tool_call_deltas_of_a_chunk_are_parsed(delta, deltas):
    assert list(parse_chunk(json.dumps({"choices": [{"delta": delta}]}).encode())) == deltas
