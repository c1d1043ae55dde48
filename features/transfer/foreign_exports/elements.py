"""Splits an export into its conversations without decoding it, and finds the line of a member. Pure."""

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from typing import Final, NamedTuple, Protocol

from chat.protocol.errors import ApiError

# A string is one token, so that its brackets are not counted. A string without an end extends to the end of the file,
# so that no byte is read twice.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}\n]', re.DOTALL)
_BLANK: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = JSONDecoder()

Path = tuple[str | int, ...]


class Content(Protocol):
    """Bytes, or a memory-mapped file."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: slice, /) -> bytes: ...


class Element(NamedTuple):
    """A conversation: content[start:end]. position: its index in the file's array; None if it is the whole file."""

    position: int | None
    start: int
    end: int
    line: int  # of its first byte, from 1


def split(content: Content) -> Iterator[Element]:
    """Yield the objects of an array, or a single object. Raises ApiError, with `line`, if the file is not such JSON.

    Only brackets are read: elements are validated when they are decoded.
    """
    start = _end_of_blank(content, 0)
    first = content[start : start + 1]
    if first not in (b"[", b"{"):
        raise ApiError("invalid_json", line=_count_lines(content, start) + 1)
    outer = 1 if first == b"[" else 0
    depth = index = 0
    begin = line = _count_lines(content, start) + 1
    for bracket, at, line in _brackets(content, start, begin):
        if bracket in b"[{":
            depth += 1
            if depth == outer + 1:
                start, begin = at, line
            continue
        depth -= 1
        if depth == outer:
            yield Element(index if outer else None, start, at + 1, begin)
            index += 1
        if depth == 0:
            _check_end(content, at + 1, line)
            return
    raise ApiError("invalid_json", "The file ends too early.", line=line)


def _brackets(content: Content, start: int, line: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each bracket with its position and its line."""
    for token in _TOKEN.finditer(content, start):  # type: ignore[call-overload]
        at = token.start()
        byte = content[at : at + 1]
        if byte == b"\n":
            line += 1
        elif byte != b'"':
            yield byte, at, line


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Count the lines of valid JSON above the member at `path`, or above the innermost part of the path that exists."""
    at = _skip(text, 0)
    for step in path:
        found = _member(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at)


def _member(text: str, at: int, wanted: str | int) -> int | None:
    """Return the start of a member of the object or array at `at`; None if there is no such member."""
    if text[at] not in "{[":
        return None
    is_object = text[at] == "{"
    at, index = _skip(text, at + 1), 0
    while text[at] not in "]}":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == wanted:
            return at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return None


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _end_of_blank(content: Content, at: int) -> int:
    match = _BLANK.match(content, at)  # type: ignore[call-overload]
    return int(match.end()) if match else at


def _count_lines(content: Content, end: int) -> int:
    return content[0:end].count(b"\n")


def _check_end(content: Content, at: int, line: int) -> None:
    if _end_of_blank(content, at) != len(content):
        raise ApiError("invalid_json", "Something follows the end of the JSON.", line=line)
