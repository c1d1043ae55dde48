"""Schemas of tools are sent as model servers accept them, and allow what the tools do."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from llm_worker.request.parameter_schema import accepted_schema, own_arguments
from llm_worker.tools.tool import tool_schemas

pytestmark = pytest.mark.pure

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
LIST = {"type": "array"}
BASE = {"$ref": "#/$defs/Base"}


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        pytest.param({"type": "object"}, objects(), id="no properties"),
        pytest.param({}, objects(), id="nothing"),
        pytest.param({"type": ["object", "null"], "properties": None}, objects(), id="other types"),
        pytest.param(objects(a=LIST), objects(a={**LIST, "items": {}}), id="an array"),
        pytest.param(objects(a=LIST | {"items": TEXT}), objects(a=LIST | {"items": TEXT}), id="with items"),
        pytest.param(
            objects(a={"type": ["array", "null"]}), objects(a={"type": ["array", "null"], "items": {}}), id="or null"
        ),
        pytest.param(
            objects(a={"anyOf": [TEXT, LIST]}) | {"$defs": {"A": LIST}, "additionalProperties": LIST},
            objects(a={"anyOf": [TEXT, LIST | {"items": {}}]})
            | {"$defs": {"A": LIST | {"items": {}}}, "additionalProperties": LIST | {"items": {}}},
            id="arrays anywhere",
        ),
        pytest.param(
            objects(items=TEXT, type=TEXT, a={"const": LIST, "default": LIST}),
            objects(items=TEXT, type=TEXT, a={"const": LIST, "default": LIST}),
            id="neither names of properties nor values are schemas",
        ),
        pytest.param(
            objects(a=TEXT) | {"required": ["a"], "allOf": [objects(b=LIST) | {"required": ["b"]}]},
            objects(a=TEXT, b=LIST | {"items": {}}) | {"required": ["a", "b"]},
            id="all of them",
        ),
        pytest.param(
            {"oneOf": [objects(a=TEXT, k=TEXT) | {"required": ["a", "k"]}, objects(a=NUMBER, k=TEXT) | {"required": ["k"]}]},
            objects(a={"anyOf": [TEXT, NUMBER]}, k=TEXT) | {"required": ["k"]},
            id="one of them",
        ),
        pytest.param(
            {
                "oneOf": [{"allOf": [BASE, objects(a=TEXT) | {"required": ["a"]}]}, {"allOf": [BASE, objects(b=TEXT) | {"required": ["b"]}]}],
                "$defs": {"Base": objects(id=TEXT) | {"required": ["id"]}},
            },
            objects(id=TEXT, a=TEXT, b=TEXT) | {"$defs": {"Base": objects(id=TEXT) | {"required": ["id"]}}, "required": ["id"], "description": "Required: a or b."},
            id="one of them, with what all have",
        ),
        pytest.param(
            objects(p={"$ref": "#/anyOf/0/properties/q"}) | {"anyOf": [objects(q=TEXT)]},
            objects(p={"$ref": "#/anyOf/0/properties/q"}) | {"anyOf": [objects(q=TEXT)]},
            id="a reference to what would be left out",
        ),
        pytest.param(
            objects(a=TEXT, b=TEXT) | {"description": "Finds.", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            objects(a=TEXT, b=TEXT) | {"description": "Finds. Required: a or b."},
            id="one set of arguments",
        ),
        pytest.param(
            {"$ref": "#/$defs/A~1B", "$defs": {"A/B": objects(a=TEXT)}},
            objects(a=TEXT) | {"$defs": {"A/B": objects(a=TEXT)}},
            id="a reference",
        ),
        pytest.param({"$ref": "#", "not": TEXT, "enum": [{}]}, objects(), id="a reference to itself"),
    ],
)  # fmt: skip
def test_what_servers_refuse_is_written_in_another_way(given: Any, sent: Any) -> None:
    before = deepcopy(given)
    assert accepted_schema(given) == sent
    assert given == before


def test_the_request_has_the_accepted_schema_and_the_tool_keeps_its_own() -> None:
    class Tool:
        name, description, parameters = "act", "Acts.", {"type": "object"}

    [sent] = tool_schemas([Tool()])  # type: ignore[list-item]
    assert sent["function"]["parameters"] == objects()
    assert Tool.parameters == {"type": "object"}


def test_many_references_to_the_whole_are_followed_once() -> None:
    schema = objects(a=TEXT) | {"anyOf": [{"allOf": [{"$ref": "#"}] * 500}] * 500}
    assert accepted_schema(schema) == objects(a=TEXT)


def test_an_array_that_is_nested_very_deep_stays_as_it_is() -> None:
    schema: dict[str, Any] = LIST
    for _ in range(200):
        schema = objects(a=schema)
    assert json.dumps(accepted_schema(schema)) == json.dumps(schema)


parts = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.fixed_dictionaries(dict.fromkeys("abc", st.sampled_from([TEXT, NUMBER, LIST]))),
    },
    optional={
        "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
        "additionalProperties": st.booleans(),
    },
)  # fmt: skip
combined = st.recursive(
    parts,
    lambda inner: st.tuples(parts, st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1, max_size=3)).map(
        lambda drawn: drawn[0] | {drawn[1]: drawn[2]}
    ),
    max_leaves=5,
)  # fmt: skip
arguments = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["text", 7, [1]]), max_size=3)


@given(combined, arguments)
def test_what_a_tool_accepts_the_sent_schema_allows(schema: Any, given_arguments: Any) -> None:
    sent = accepted_schema(schema)
    assert (sent["type"], not {"anyOf", "oneOf", "allOf"} & set(sent)) == ("object", True)
    if Draft202012Validator(schema).is_valid(given_arguments):
        assert Draft202012Validator(sent).is_valid(given_arguments)


ODD_NAMES = {
    "type": "object",
    "properties": {
        "$top": {"type": "integer", "description": "At most so many."},
        "城市": {"type": "string"},
        "a b": {"type": "array", "items": {"type": "object", "properties": {"ü": {"type": "string"}}}},
        "a/b": {"$ref": "#/$defs/Place"},
        "plain": {"anyOf": [{"type": "object", "properties": {"x y": {}}}, {"type": "null"}]},
    },
    "required": ["$top", "plain"],
    "$defs": {"Place": {"type": "object", "properties": {"é": {"type": "string"}}, "required": ["é"]}},
}


def test_names_that_servers_refuse_are_respelled_and_spelled_back_in_calls() -> None:
    sent = accepted_schema(ODD_NAMES)
    names = dict(zip(sent["properties"], ODD_NAMES["properties"], strict=True))
    assert all(re.fullmatch("[A-Za-z0-9_.-]{1,64}", name) for name in names)
    assert len(names) == 5
    assert sent["required"] == ["_top", "plain"]
    assert sent["properties"]["_top"]["description"] == "$top: At most so many."
    [city] = [schema for name, schema in sent["properties"].items() if names[name] == "城市"]
    assert city["description"] == "城市"
    own = {"$top": 3, "城市": "Lübeck", "a b": [{"ü": "1"}], "a/b": {"é": "2"}, "plain": {"x y": 3}}
    inner = sent["properties"][next(name for name in names if names[name] == "a b")]["items"]["properties"]
    called: dict[str, Any] = {name: own[names[name]] for name in names}
    for name, value in called.items():
        if names[name] == "a b":
            called[name] = [{next(iter(inner)): "1"}]
        elif names[name] == "a/b":
            called[name] = {next(iter(sent["$defs"]["Place"]["properties"])): "2"}
        elif name == "plain":
            called[name] = {"x_y": value["x y"]}
    assert own_arguments(called, ODD_NAMES) == own
    assert own_arguments(own, ODD_NAMES) == own, "as models repeat them"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=8, unique=True))
def test_respelled_names_differ_and_lead_back(names: list[str]) -> None:
    schema = {"properties": {name: {} for name in names}, "required": names}
    sent = accepted_schema(schema)
    assert len(sent["properties"]) == len(names)
    assert list(sent["properties"]) == sent.get("required", [])
    assert all(re.fullmatch("[A-Za-z0-9_.-]{1,64}", name) for name in sent["properties"])
    called = dict(zip(sent["properties"], names, strict=True))
    assert own_arguments(called, schema) == {name: name for name in names}


def test_names_are_spelled_back_inside_references_positions_and_additional_members() -> None:
    inner = {"type": "object", "properties": {"my name": {"type": "string"}}}
    schema = {
        "properties": {"my name": {}, "child": {"$ref": "#"}, "map": {"additionalProperties": inner},
                       "pair": {"prefixItems": [{}, inner]}},
    }  # fmt: skip
    written = {
        "my_name": 1,
        "child": {"my_name": 2},
        "map": {"k": {"my_name": 3}},
        "pair": [0, {"my_name": 4}],
    }
    own = {"my name": 1, "child": {"my name": 2}, "map": {"k": {"my name": 3}}, "pair": [0, {"my name": 4}]}
    assert own_arguments(written, schema) == own


@pytest.mark.slow
def test_deep_and_recursive_schemas_take_no_longer_than_their_arguments() -> None:
    binary = {"type": "object", "properties": {"left": {"$ref": "#/$defs/E"}, "right": {"$ref": "#/$defs/E"}}}
    schema = {
        "properties": {"expr": {"$ref": "#/$defs/E"}},
        "$defs": {"E": {"anyOf": [{"type": "number"}, *[dict(binary) for _ in range(6)]]}},
    }
    expression: Any = 1
    for _ in range(20):
        expression = {"left": expression, "right": 1}
    assert own_arguments({"expr": expression}, schema) == {"expr": expression}
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    assert accepted_schema(deep)["type"] == "object"
    assert own_arguments({"a": {"a": 1}}, deep) == {"a": {"a": 1}}
