"""Forms: which are accepted, which answers fit them, and what a model is told of an answer."""

from typing import Any

import pytest

from chat.transcript.questions import (
    MAX_CHARACTERS,
    MAX_PROPERTIES,
    FormInvalid,
    describe_answer,
    find_problem,
    read_form,
)

pytestmark = pytest.mark.pure

CITY = {"type": "string", "title": "Which city?", "enum": ["Berlin", "Paris"]}


def form(*required: str, **properties: Any) -> dict[str, Any]:
    return read_form({"type": "object", "properties": properties, "required": list(required)})


EVERYTHING = form(
    "city",
    city=CITY,
    nights={"type": "integer", "minimum": 1, "title": "Nights"},
    budget={"type": "number", "maximum": 1000},
    breakfast={"type": "boolean"},
    extras={"type": "array", "items": {"type": "string", "enum": ["sea", "sun"]}, "minItems": 1},
    mail={"type": "string", "format": "email"},
    site={"type": "string", "format": "uri"},
    day={"type": "string", "format": "date"},
    at={"type": "string", "format": "date-time"},
    name={"type": "string", "minLength": 2, "maxLength": 4},
    size={"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
)  # fmt: skip
ANSWER = {
    "city": "Paris", "nights": 2, "budget": 99.5, "breakfast": True, "extras": ["sun", "sea"], "mail": "a@example.org",
    "site": "https://example.org/", "day": "2026-11-26", "at": "2026-11-26T12:00:00Z", "name": "Anna", "size": "l",
}  # fmt: skip


def test_an_answer_that_fits_has_no_problem() -> None:
    assert find_problem(ANSWER, EVERYTHING) is None
    assert find_problem({"city": "Berlin"}, EVERYTHING) is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("city", "Rome", "'Rome' is not one of"),
        ("city", ["Paris"], "not of type 'string'"),
        ("nights", 0, "less than the minimum"),
        ("nights", 1.5, "not of type 'integer'"),
        ("nights", True, "not of type 'integer'"),
        ("budget", "99", "not of type 'number'"),
        ("budget", 1001, "greater than the maximum"),
        ("breakfast", 1, "not of type 'boolean'"),
        ("extras", [], "non-empty"),
        ("extras", ["rain"], "not one of"),
        ("extras", ["sun", "sun"], "non-unique"),
        ("mail", "nobody", "format email"),
        ("site", "example", "format uri"),
        ("site", "http://[", "format uri"),
        ("day", "26.11.2026", "format date"),
        ("day", 3, "not of type 'string'"),
        ("at", "noon", "format date-time"),
        ("name", "A", "too short"),
        ("name", "Annabel", "too long"),
        ("size", "Large", "'Large' is not valid"),
        ("weather", "fine", "does not ask this"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_with_the_property(name: str, value: Any, says: str) -> None:
    problem = find_problem({"city": "Paris"} | {name: value}, EVERYTHING)
    assert problem
    assert problem.name == name
    assert says in problem.sentence


def test_what_is_required_and_missing_is_named() -> None:
    assert find_problem({}, EVERYTHING) == ("city", "This has to be answered.")


def test_a_model_reads_each_question_with_its_answer() -> None:
    assert describe_answer(ANSWER, EVERYTHING).splitlines() == [
        "Which city? Paris", "Nights: 2", "budget: 99.5", "breakfast: yes", "extras: sun, sea", "mail: a@example.org",
        "site: https://example.org/", "day: 2026-11-26", "at: 2026-11-26T12:00:00Z", "name: Anna", "size: Large",
    ]  # fmt: skip
    assert describe_answer({"city": "Berlin", "extras": [], "breakfast": False}, EVERYTHING).splitlines()[:5] == [
        "Which city? Berlin", "Nights: (not answered)", "budget: (not answered)", "breakfast: no", "extras: (none)",
    ]  # fmt: skip


def test_options_may_have_names_in_every_spelling_of_the_protocol() -> None:
    named = form(
        one={"type": "string", "enum": ["a", "b"], "enumNames": ["Ay", "Bee"]},
        many={
            "type": "array",
            "items": {"anyOf": [{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]},
        },
    )
    answer = {"one": "b", "many": ["y", "x"]}
    assert find_problem(answer, named) is None
    assert describe_answer(answer, named) == "one: Bee\nmany: Why, Ex"
    assert find_problem({"many": ["z"]}, named)


def test_a_form_keeps_what_forms_may_have_and_nothing_else() -> None:
    doubled = {"allOf": [{"not": {"$ref": "#"}}], "pattern": "^(a+)+$"}
    read = read_form(
        {
            "type": "object",
            "$defs": {"a": doubled},
            "allOf": [doubled],
            "properties": {
                "a": {"type": "string", "title": "A", **doubled},
                "b": {"type": "array", "items": {"enum": ["x"], **doubled}},
            },
        }
    )
    assert read == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "title": "A"},
            "b": {"type": "array", "items": {"enum": ["x"]}, "uniqueItems": True},
        },
        "required": [],
    }


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "an object with properties"),
        ({"type": "object"}, "an object with properties"),
        ({"type": "object", "properties": {}}, "an object with properties"),
        ({"type": "object", "properties": [CITY]}, "an object with properties"),
        ({"type": "array", "properties": {"a": CITY}}, "an object with properties"),
        ({"type": "object", "properties": {"a": CITY}, "required": ["b"]}, "list of properties"),
        ({"type": "object", "properties": {"a": CITY}, "required": "a"}, "list of properties"),
        ({"type": "object", "properties": {"a": CITY}, "required": [["a"]]}, "list of properties"),
        ({"type": "object", "properties": {"1": CITY}, "required": [1]}, "list of properties"),
        ({"type": "object", "properties": {str(n): CITY for n in range(MAX_PROPERTIES + 1)}}, "at most 50"),
        ({"type": "object", "properties": {"a": CITY | {"title": "?" * MAX_CHARACTERS}}}, "characters"),
    ],
)
def test_a_form_that_is_none_is_refused(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(FormInvalid, match=says):
        read_form(asked)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("string", "a is none of"),
        ({"type": "object", "properties": {}}, "a is none of"),
        ({"type": ["string", "null"]}, "a is none of"),
        ({"type": "null"}, "a is none of"),
        ({"enum": ["x"]}, "a is none of"),
        ({"type": "string", "enum": []}, "non-empty"),
        ({"type": "string", "enum": [1]}, "not of type 'string'"),
        ({"type": "string", "enum": "abc"}, "not of type 'array'"),
        ({"type": "string", "oneOf": [{"title": "x"}]}, "'const' is a required"),
        ({"type": "string", "format": "password"}, "not one of"),
        ({"type": "string", "minLength": -1}, "minimum"),
        ({"type": "string", "title": 3}, "not of type 'string'"),
        ({"type": "string", "default": 3}, "not of type 'string'"),
        (
            {"type": "string", "enum": ["x"], "default": "y"},
            "The default of a does not fit: 'y' is not one of",
        ),
        ({"type": "string", "format": "date", "default": "today"}, "The default of a does not fit"),
        ({"type": "integer", "minimum": 2, "default": 1}, "The default of a does not fit"),
        ({"type": "boolean", "default": "yes"}, "not of type 'boolean'"),
        ({"type": "array"}, "'items' is a required"),
        ({"type": "array", "items": {"type": "string"}}, "not valid under any"),
        ({"type": "array", "items": {"enum": ["x"]}, "default": ["y"]}, "The default of a does not fit"),
    ],
)
def test_a_property_that_no_page_could_show_is_refused(given: Any, says: str) -> None:
    with pytest.raises(FormInvalid, match=says):
        form(a=given)
