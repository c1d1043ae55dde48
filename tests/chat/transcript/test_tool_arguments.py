"""Arguments of calls against JSON Schemas, which may be those of servers."""

from typing import Any

import pytest

from chat.transcript.tool_arguments import first_violation

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
