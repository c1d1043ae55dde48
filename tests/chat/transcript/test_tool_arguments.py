"""Arguments of calls against JSON Schemas, which may be those of servers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.tool_arguments import as_wanted, first_violation

pytestmark = pytest.mark.pure

NUMBER = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({}, "'a' is a required property"), ({"a": 0}, "0 is less"), ({"a": "1"}, "not of")],
)
def test_what_does_not_match_is_said(arguments: dict[str, Any], says: str) -> None:
    violation = first_violation(arguments, NUMBER)
    assert violation
    assert says in violation.message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.com/schema"},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": [1]},
        {"required": 5},
    ],
)
def test_a_schema_that_is_none_ends_no_answer(schema: dict[str, Any]) -> None:
    assert first_violation({"a": "1"}, schema) is None


def test_what_can_take_exponential_time_is_left_to_the_server() -> None:
    doubled = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    schemas = [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"patternProperties": {"^(a+)+$": {"type": "integer"}}},
        {"$ref": "#/$defs/d0", "$defs": doubled | {"d60": {}}},
    ]
    for schema in schemas:
        assert first_violation({"a": "a" * 60 + "!", "a" * 60 + "!": 1}, schema) is None


TAGS = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "integer"},
        "b": {"type": "boolean"},
        "o": {"type": "string"},
        "deep": {
            "type": "object",
            "properties": {"x": {"type": ["number", "null"]}, "y": {"type": "number"}},
        },
    },
    "required": ["tags"],
}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ({"tags": '["a","b"]'}, {"tags": ["a", "b"]}),
        ({"tags": ["a"], "n": "5", "b": "true"}, {"tags": ["a"], "n": 5, "b": True}),
        ({"tags": ["a"], "n": "5.0", "b": "False"}, {"tags": ["a"], "n": 5, "b": False}),
        ({"tags": ["a"], "o": None, "n": None}, {"tags": ["a"]}),
        ({"tags": ["5"], "o": "[1]", "n": " 7 "}, {"tags": ["5"], "o": "[1]", "n": 7}),
        ({"tags": [], "deep": '{"x": null, "y": "2.5"}'}, {"tags": [], "deep": {"x": None, "y": 2.5}}),
        ({"tags": "[]", "deep": {"x": None, "y": None}}, {"tags": [], "deep": {"x": None}}),
        ({"tags": "[]", "other": None}, {"tags": [], "other": None}),
    ],
)
def test_arguments_are_read_as_models_mean_them(written: dict[str, Any], wanted: dict[str, Any]) -> None:
    arguments = as_wanted(written, TAGS)
    assert arguments == wanted
    assert [type(value) for value in arguments.values()] == [type(value) for value in wanted.values()]
    assert first_violation(arguments, TAGS) is None


@pytest.mark.parametrize(
    "written",
    [{"tags": "a"}, {"tags": None}, {"tags": '{"a": 1}'}, {"tags": [], "n": "five"}, {"tags": [], "n": "5.5"},
     {"tags": [], "b": "yes"}, {"tags": [], "o": 5}, {"tags": ["a", 1]}, {"tags": [], "n": "NaN"}, {"tags": [], "n": "1e999"}],
)  # fmt: skip
def test_what_is_no_json_of_the_wanted_type_stays_and_is_refused(written: dict[str, Any]) -> None:
    arguments = as_wanted(written, TAGS)
    assert arguments == written
    assert first_violation(arguments, TAGS) is not None


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip
TYPES = {bool: "boolean", type(None): "null", int: "number", float: "number", str: "string", list: "array"}


def schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {name: schema_of(inner) for name, inner in value.items()}}
    return {"type": TYPES[type(value)]}


@given(VALUES)
def test_any_value_is_read_from_its_json_where_no_text_is_wanted(value: Any) -> None:
    schema = {"properties": {"v": schema_of(value)}, "required": ["v"]}
    assert as_wanted({"v": value}, schema) == {"v": value}
    as_text = json.dumps(value)
    assert as_wanted({"v": as_text}, schema) == {"v": as_text if isinstance(value, str) else value}
