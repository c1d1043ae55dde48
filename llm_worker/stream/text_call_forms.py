"""Parses tool calls that models write as text: `<invoke>` markup and JSON objects. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from llm_worker.stream.arguments import parse_arguments

_INVOKE = re.compile(r"""<(?:antml:)?invoke\s+name=["']([^"'<]*)["']\s*>""")
_INVOKE_END = re.compile(r"</(?:antml:)?invoke>")
_PARAMETER = re.compile(r"""<(?:antml:)?parameter\s+name=["']([^"'<]*)["'][^<>]*>""")
_PARAMETER_END = re.compile(r"</(?:antml:)?parameter>")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters")
# An object with other keys describes a tool, or something else of the same name.
_KEYS = {*_NAMES, *_ARGUMENTS, "id", "type"}


class WrittenCall(NamedTuple):
    """A call written as text. arguments: None if `raw` is not a JSON object."""

    name: str
    arguments: dict[str, Any] | None
    raw: str


class _Element(NamedTuple):
    name: str
    inside: str
    end: int


def invoked(markup: str, offered: Mapping[str, Mapping[str, Any]]) -> tuple[list[WrittenCall], int]:
    """Return the calls in the markup, and the position after the last one."""
    invokes = list(_elements(markup, _INVOKE, _INVOKE_END))
    calls = [_called(each.name, _parameters(each.inside, offered.get(each.name, {}))) for each in invokes]
    return calls, invokes[-1].end if invokes else 0


def named(value: Any, offered: Mapping[str, object]) -> WrittenCall | None:
    """Return the call that a JSON object represents; None if it is no call of an offered tool."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        return named(value["function"], offered) if _KEYS.issuperset(value) else None
    if not isinstance(value, dict) or not _KEYS.issuperset(value):
        return None
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    given = [value[key] for key in _ARGUMENTS if key in value]
    return _called(name, given[0]) if name in offered and given else None


def _called(name: str, arguments: object) -> WrittenCall:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return WrittenCall(name, parse_arguments(raw), raw)


def _parameters(markup: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {
        each.name: _value(each.inside, properties.get(each.name, {}))
        for each in _elements(markup, _PARAMETER, _PARAMETER_END)
    }


def _elements(markup: str, begin: re.Pattern[str], end: re.Pattern[str]) -> Iterator[_Element]:
    """Yield the complete elements, in one pass from left to right, however many are never closed."""
    at = 0
    while (opening := begin.search(markup, at)) and (ended := end.search(markup, opening.end())):
        yield _Element(opening[1], markup[opening.end() : ended.start()], ended.end())
        at = ended.end()


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Convert a parameter to a value. Markup has no types: the schema says which values are not text."""
    if schema.get("type", "string") == "string":
        return text.removeprefix("\n").removesuffix("\n")
    try:
        return json.loads(text)
    except ValueError:
        return text
