"""Finds tool calls that a model writes into its answer as markup or JSON. Pure.

Only calls of offered tools are recognised; other JSON and XML is text and is passed on unchanged.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import regex  # re has no partial matches

from llm_worker.stream.call_assembler import RequestedCall, parse_arguments

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
    arguments = [value[key] for key in _ARGUMENTS if key in value]
    return _called(name, arguments[0]) if name in offered and arguments else None


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
    position = 0
    while (opening := begin.search(markup, position)) and (ended := end.search(markup, opening.end())):
        yield _Element(opening[1], markup[opening.end() : ended.start()], ended.end())
        position = ended.end()


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Convert a parameter to a value. Markup has no types: the schema says which values are not text."""
    if schema.get("type", "string") == "string":
        return text.removeprefix("\n").removesuffix("\n")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# A longer candidate is text.
LONGEST_CALL: Final = 64 * 1024
# json reports an incomplete literal or escape at the position where it begins.
LONGEST_LITERAL: Final = 10

_OPENING = regex.compile(r"[`<{]")
_INVOKES_END = regex.compile(r"</(?:antml:)?function_calls>")
_FENCE_END = regex.compile(r"(?:\s{0,99}</tool_call>)?\s{0,99}```")
_TAG_END = regex.compile(r"\s{0,99}</tool_call>")
_decode = json.JSONDecoder(strict=False).raw_decode


class _Undecided(Exception):
    """The text so far may be the beginning of a call."""


class _Found(NamedTuple):
    end: int
    calls: list[WrittenCall]


class TextCalls:
    """Extracts the calls of one inference. Text that may be the beginning of a call is held back until it is decided.

    calls: the calls found so far.
    """

    def __init__(self, offered: Mapping[str, Mapping[str, Any]], new_id: Callable[[], str]) -> None:
        """Start without calls. `offered`: the names of the tools, each with the JSON Schema of its arguments."""
        self.calls: list[RequestedCall] = []
        self._offered = offered
        self._new_id = new_id
        self._beginning = _beginning(offered) if offered else None
        self._held = ""
        self._before = _PrecedingText()

    def feed(self, text: str) -> str:
        """Read a piece of the answer, and return the text that may be shown."""
        if self._beginning is None:
            return text
        return "".join(self._read(text, is_end=False))

    def flush(self) -> str:
        """Return the part of the held text that may be shown, at the end of the stream."""
        return "".join(self._read("", is_end=True))

    def _read(self, text: str, *, is_end: bool) -> Iterator[str]:
        text, self._held = self._held + text, ""
        at = 0
        while opening := _OPENING.search(text, at):
            yield self._before.pass_on(text[at : opening.start()])
            at = opening.start()
            try:
                found = self._found(text, at, is_end=is_end)
            except _Undecided:
                self._held = text[at:]
                return
            if found:
                self.calls += [self._requested_call(*call) for call in found.calls]
                at = found.end
            else:
                yield self._before.pass_on(text[at])
                at += 1
        yield self._before.pass_on(text[at:])

    def _found(self, text: str, start: int, *, is_end: bool) -> _Found | None:
        """Return the calls that begin at `start`, or None.
        Raises _Undecided, but not at the end of the text or for a candidate longer than LONGEST_CALL.
        """
        try:
            found = self._recognised(text, start, is_end=is_end)
        except _Undecided:
            if is_end or len(text) - start > LONGEST_CALL:
                return None
            raise
        return found if found and found.end - start <= LONGEST_CALL else None

    def _recognised(self, text: str, start: int, *, is_end: bool) -> _Found | None:
        if self._beginning is None or (text[start] == "{" and not self._before.allows_object):
            return None
        beginning = self._beginning.match(text, start, partial=True)
        if beginning is None:
            return None
        if beginning.partial:
            raise _Undecided
        found = (
            self._markup(text, beginning.start("invokes"), is_end=is_end)
            if beginning["invokes"]
            else self._object(text, beginning.start("object"))
        )
        return found and _closed(text, found, beginning, is_end=is_end)

    def _markup(self, text: str, start: int, *, is_end: bool) -> _Found | None:
        """Parse `<function_calls>…`. The closing tag is missing where the server uses it as a stop sequence."""
        end = _INVOKES_END.search(text, start)
        if end is None and not is_end:
            raise _Undecided
        calls, length = invoked(text[start : end.start() if end else None], self._offered)
        return _Found(end.end() if end else start + length, calls) if calls else None

    def _object(self, text: str, start: int) -> _Found | None:
        try:
            value, end = _decode(text, start)
        except json.JSONDecodeError as error:
            if "Unterminated" in error.msg or error.pos > len(text) - LONGEST_LITERAL:
                raise _Undecided from None
            return None
        except (ValueError, RecursionError):
            return None
        call = named(value, self._offered)
        return _Found(end, [call]) if call else None

    def _requested_call(self, name: str, arguments: dict[str, Any] | None, raw: str) -> RequestedCall:
        return RequestedCall(self._new_id(), name, arguments, raw)


class _PrecedingText:
    """The context before a candidate: whether a JSON object may stand alone there."""

    def __init__(self) -> None:
        self._visible = ""  # the last two non-space characters
        self._is_new_line = True

    def pass_on(self, text: str) -> str:
        if text:
            line = text.rpartition("\n")[2]
            self._is_new_line = (self._is_new_line or "\n" in text) and not line.strip()
            self._visible = (self._visible + "".join(text.split()))[-2:]
        return text

    @property
    def allows_object(self) -> bool:
        """Whether a JSON object may begin here: at the start of a line or after a sentence, not inside other JSON."""
        before, last = self._visible[-2:-1], self._visible[-1:]
        if self._is_new_line:
            return last not in {"[", "{", ","} and not (last == ":" and before == '"')
        return last in {".", "!", "?", "…"} or (last == ":" and before not in {'"', "'"})


def _closed(text: str, found: _Found, beginning: Any, *, is_end: bool) -> _Found | None:
    """Include the end of a surrounding fence or tag. A fence must close right after the call, or it is not one."""
    pattern = _FENCE_END if beginning["fence"] else _TAG_END if beginning["tag"] else None
    if pattern is None:
        return found
    closing = pattern.match(text, found.end, partial=True)
    if closing and closing.partial and not is_end:
        raise _Undecided
    if closing and not closing.partial:
        return found._replace(end=closing.end())
    return None if beginning["fence"] else found


def _beginning(offered: Mapping[str, object]) -> Any:
    """Compile the pattern of a call's beginning, with as much as distinguishes it from other code, markup or JSON."""
    names = "|".join(regex.escape(name) for name in offered)
    return regex.compile(
        rf"""
        (?P<fence>```(?:json|xml|tool_call|tool_code)?[ \t]{{0,9}}\n\s{{0,99}})?
        (?:
            (?P<invokes><(?:antml:)?function_calls>\s{{0,99}}<(?:antml:)?invoke\s+name=["'](?:{names})["'])
        |
            (?P<tag><tool_call>\s{{0,99}})?
            (?P<object>\{{\s{{0,99}}(?:
                "(?:name|tool|tool_name|function)"\s{{0,9}}:\s{{0,9}}"(?:{names})"
                | "function"\s{{0,9}}:\s{{0,9}}\{{
                | "type"\s{{0,9}}:\s{{0,9}}"function"
                | "id"\s{{0,9}}:\s{{0,9}}"
                | "(?:arguments|parameters)"\s{{0,9}}:
            ))
        )
        """,
        regex.VERBOSE,
    )
