"""Hypothesis strategies: frames that a client may send, from valid commands of the AsyncAPI document to noise.

Ids stand in them as "{session}" until they are sent, so that a failing example does not depend on the rows of its run.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.matrix import asyncapi

# Names of ids of the owner, of somebody else, of nobody.
OWN = (
    "session",
    "live_session",
    "live_run",
    "cut_run",
    "run",
    "tool_call",
    "live_turn",
    "question",
    "answer",
    "root",
    "file",
)
IDS = st.sampled_from([f"{{{name}}}" for name in (*OWN, "absent", "theirs")])
# By the members that name them, so that many commands are about something.
LIKELY = {
    "session": ["{session}", "{live_session}"], "run": ["{live_run}", "{cut_run}", "{run}"], "turn": ["{live_turn}"],
    "tool_call": ["{tool_call}"],
    "parent": ["{answer}", "{root}"], "files": ["{file}"],
}  # fmt: skip
MODELS = ["quick", "deep", "nobody", ""]
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "\u200b", "a\x00b", "\ud800", "🌊" * 50, "x" * 201, "x" * 9000, "{session}", "{answer} "]
    ),
)
NUMBERS = st.one_of(
    st.integers(-2, 5),
    st.sampled_from([2**31 - 1, 2**31, -(2**63), 2**64, 10**30, 1.5, 1e300, True, False]),
)
SCALARS = st.one_of(st.none(), NUMBERS, TEXTS, IDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


class Frame(NamedTuple):
    """data: sent as a text frame, whatever it is, unless is_binary."""

    data: str | bytes
    is_binary: bool = False

    def filled(self, ids: Mapping[str, str]) -> str | bytes:
        data = self.data
        for name, pk in ids.items():
            place = f"{{{name}}}"
            data = data.replace(place, pk) if isinstance(data, str) else data
        return data


def member(name: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema describes, mostly."""
    found = asyncapi.resolve(schema)
    if name in LIKELY and found.get("type") != "array":
        return st.one_of(st.sampled_from(LIKELY[name]), IDS)
    if name == "models":
        return st.lists(st.sampled_from(MODELS), min_size=1, max_size=4, unique=True)
    return of_schema(name, found)


def of_schema(name: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "const" in schema:
        return st.just(schema["const"])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return st.one_of(*(of_schema(name, {**schema, "type": kind}) for kind in kinds))
    if kinds == "array":
        return st.lists(member(name[:-1], schema["items"]), max_size=2)
    if kinds == "object":
        return st.dictionaries(IDS, cursor(), max_size=2)
    if schema.get("format") == "uuid":
        return IDS
    plain = {"null": st.none(), "boolean": st.booleans(), "string": TEXTS, "number": NUMBERS}
    return plain.get(str(kinds), st.integers(0, 2**31 - 1) | st.integers(0, 6))


def cursor() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"attempt": st.integers(0, 3), "seq": st.integers(0, 4)})


@st.composite
def commands(draw: st.DrawFn) -> dict[str, Any]:
    """One that the document describes, or nearly."""
    kind = draw(st.sampled_from(sorted(asyncapi.commands())))
    schema = asyncapi.commands()[kind]
    optional = sorted(set(schema["properties"]) - set(schema["required"]))
    names = [*schema["required"], *draw(st.lists(st.sampled_from(optional), max_size=2, unique=True))]
    if kind == "stop" and not {"run", "turn"} & set(names):
        names.append(draw(st.sampled_from(["run", "turn"])))
    return {name: draw(member(name, schema["properties"][name])) for name in names}


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A command with something wrong about its members."""
    command = draw(commands())
    name = draw(
        st.sampled_from([*sorted(command), "text", "models", "cursors", "since", "more", "id", "type"])
    )
    if draw(st.booleans()):
        command.pop(name, None)
    else:
        command[name] = draw(VALUES)
    return command


NOISE = st.sampled_from(
    [
        "", " ", "null", "[]", "7", '"ping"', "{", '{"type":', '{"type":"ping"}{"type":"ping"}', "\ufeff{}",
        '{"type":"ping","type":"ping"}', '{"type":"ping","id":NaN}', '{"type":"ping","id":Infinity}',
        '{"type":"ping","id":"\\ud800"}', '{"type":"ping","id":"\\u0000"}', '{"type":"ping","\\u0000":1}',
        '{"type":"ping","id":' + "9" * 5000 + "}", '{"type":"ping","id":-1e400}', '{"type":"ping","id":1e400}',
        "[" * 10_000 + "]" * 10_000, '{"id":' * 200 + "1" + "}" * 200, '{"id":' + "[" * 101 + "]" * 101 + "}",
        '{"type":"ping","id":' + "[0," * 30_000 + "0" + "]" * 30_000 + "}", '{"type":"ping"}' + " " * 200_000,
        '{"type":"ping","request_id":7}', '{"type":"ping","request_id":"a b"}', '{"type":"ping","request_id":"mine-1"}',
        "\x00", "\n", '{"type":"ping"}\n{"type":"ping"}',
    ]
)  # fmt: skip


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """Mostly frames that get far."""
    kind = draw(st.sampled_from(["command"] * 5 + ["mutated"] * 3 + ["noise", "cut", "binary"]))
    if kind == "noise":
        return Frame(draw(NOISE))
    text = json.dumps(draw(mutated() if kind == "mutated" else commands()), ensure_ascii=draw(st.just(True)))
    if kind == "cut":
        return Frame(text[: draw(st.integers(0, len(text)))])
    return Frame(text.encode(), is_binary=True) if kind == "binary" else Frame(text)


# Frames that end the connection, with the documented codes.
CLOSING = {1007: b'{"type":"\xff"}', 1009: " " * (256 * 1024 + 1)}
