"""Decodes what is used of another product's objects, with errors that name the member. Pure."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from chat.sessions.foreign_exports.elements import Path
from chat.sessions.portable.rules import EARLIEST
from knowledge.file_names import extension
from knowledge.file_types import IMAGES

T = TypeVar("T")

_PATH: Final = re.compile(r" - at `\$(.*)`$")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`")
_NUMBER: Final = re.compile(r"\d{1,20}(?:\.\d{1,20})?", re.ASCII)
# Of a count, as its column takes it.
_MOST: Final = 2**31 - 1
# Members that say what a message is, and where it belongs: without them the chat would be another one.
_NEEDED: Final = frozenset(
    """mapping message parent author role content parts text chat history messages parentId messageId parentMessageId children
    tool_call chat_messages sender parent_message_uuid fragments type""".split()  # noqa: SIM905  a list of one word a line is longer
)
# Of one message: each costs another reading of it.
_MAX_DETAILS: Final = 100
# Some products write milliseconds.
_SECONDS_END: Final = 100_000_000_000


class Unreadable(Exception):
    """A conversation is not what the product writes. path: of the member in the conversation."""

    def __init__(self, code: str, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.path = code, message, path


class Remark(NamedTuple):
    """What an imported conversation lacks. path: of the member in the conversation."""

    code: str
    message: str
    path: Path


def decode(raw: bytes | msgspec.Raw, kind: type[T], at: Path = ()) -> T:
    """at: where `raw` is in the conversation. Members that the type does not have are ignored, and details of another type left out.

    Raises Unreadable for what is needed: what a message says and where it belongs.
    """
    try:
        return _named(lambda: msgspec.json.decode(raw, type=kind, strict=False), at)
    except Unreadable as problem:
        if problem.code != "invalid_type" or len(problem.path) == len(at):
            raise
        return _without_details(raw, kind, at, problem)


def convert(value: Any, kind: type[T], at: Path = ()) -> T:
    """As decode, of a value that is decoded."""
    return _named(lambda: msgspec.convert(value, kind), at)


def moment(value: float | str | None) -> datetime | None:
    """Seconds or milliseconds since 1970, also as a text, or ISO 8601. None: not given, or no time."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            found = read if read.tzinfo else read.replace(tzinfo=UTC)
        else:
            found = datetime.fromtimestamp(value / 1000 if value > _SECONDS_END else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if found > EARLIEST else None


def kind_of(name: str) -> Literal["image", "text"]:
    """The kind of a file of which only the name is known."""
    ending = extension(name)
    return "image" if ending in IMAGES or ending == "heic" else "text"


def whole(count: float | None) -> int | None:
    """A count as a column takes it: some products write fractions. None: not given, or no count."""
    if count is None or not math.isfinite(count) or count < 0:
        return None
    return min(round(count), _MOST)


def _without_details(raw: bytes | msgspec.Raw, kind: type[T], at: Path, problem: Unreadable) -> T:
    """Raises `problem`, or a later one, if what cannot be read is needed."""
    value: Any = msgspec.json.decode(raw)
    for _ in range(_MAX_DETAILS):
        if not _remove(value, problem.path[len(at) :]):
            raise problem
        try:
            return _named(
                lambda: msgspec.json.decode(msgspec.json.encode(value), type=kind, strict=False), at
            )
        except Unreadable as further:
            if further.code != "invalid_type":  # what was removed is required
                raise problem from None
            problem = further
    raise problem


def _remove(value: Any, path: Path) -> bool:
    """Whether the member was one that may be missing, and is removed."""
    *above, last = path or ("",)
    try:
        for step in above:
            value = value[step]
        if value[last] is not None and (isinstance(last, int) or last in _NEEDED):
            return False
        del value[last]
    except (LookupError, TypeError):
        return False
    return True


def _named(read: Callable[[], T], at: Path) -> T:
    try:
        return read()
    except msgspec.ValidationError as error:
        raise _unreadable(str(error), at) from None
    except RecursionError:
        raise Unreadable("json_too_deep", "The JSON is nested too deeply.", at) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreadable("invalid_json", "This is not valid JSON.", at) from None


def _unreadable(message: str, at: Path) -> Unreadable:
    found = _PATH.search(message)
    path = at
    for step in _STEP.finditer(found[1]) if found else ():
        path += (int(step[2]) if step[2] else step[1],)
    plain = _PATH.sub("", message)
    if missing := _MISSING.search(message):
        return Unreadable("field_required", plain, (*path, missing[1]))
    return Unreadable("invalid_type", plain, path)
