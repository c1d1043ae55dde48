"""Decodes the members of other products' objects that are used here, with errors that name the member. Pure."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from chat.sessions.portable.parser import EARLIEST
from features.transfer.foreign_exports.elements import Path
from knowledge.files.file_types import IMAGES, extension

T = TypeVar("T")

_PATH: Final = re.compile(r" - at `\$(.*)`$")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`")
_NUMBER: Final = re.compile(r"\d{1,20}(?:\.\d{1,20})?", re.ASCII)
# The largest count that a column accepts.
_MOST: Final = 2**31 - 1
# Members that define the content of a message and its place: without them the chat would be a different one.
_NEEDED: Final = frozenset(
    """mapping message parent author role content parts text chat history messages parentId messageId parentMessageId children
    tool_call chat_messages sender parent_message_uuid fragments type""".split()  # noqa: SIM905  a list of one word a line is longer
)
# The limit of removed members per decoded value: each requires decoding it again.
_MAX_DETAILS: Final = 100
# Some products write milliseconds.
_SECONDS_END: Final = 100_000_000_000


class Unreadable(Exception):
    """A conversation is not in the format of the product. path: that of the member in the conversation."""

    def __init__(self, code: str, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.path = code, message, path


class Remark(NamedTuple):
    """A loss in an imported conversation. path: that of the member in the conversation."""

    code: str
    message: str
    path: Path


def decode(raw: bytes | msgspec.Raw, kind: type[T], at: Path = ()) -> T:
    """Decode JSON to a type. at: the path of `raw` in the conversation.

    Members that the type does not have are ignored, and members with a wrong type are left out, unless they define the
    content of a message or its place: then Unreadable is raised.
    """
    try:
        return _named(lambda: msgspec.json.decode(raw, type=kind, strict=False), at)
    except Unreadable as problem:
        if problem.code != "invalid_type" or len(problem.path) == len(at):
            raise
        return _without_details(raw, kind, at, problem)


def convert(value: Any, kind: type[T], at: Path = ()) -> T:
    """Convert a decoded value to a type. Raises Unreadable for any mismatch."""
    return _named(lambda: msgspec.convert(value, kind), at)


def moment(value: float | str | None) -> datetime | None:
    """Parse a time: seconds or milliseconds since 1970, also as text, or ISO 8601.
    Returns None if there is no valid time."""
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
    """Return the kind of a file of which only the name is known."""
    ending = extension(name)
    return "image" if ending in IMAGES or ending == "heic" else "text"


def whole(count: float | None) -> int | None:
    """Round a count to the range of its column, since some products write fractions. Returns None if it is no count."""
    if count is None or not math.isfinite(count) or count < 0:
        return None
    return min(round(count), _MOST)


def _without_details(raw: bytes | msgspec.Raw, kind: type[T], at: Path, problem: Unreadable) -> T:
    """Decode without the members that cannot be read. Raises `problem`, or a later one, if such a member is needed."""
    value: Any = msgspec.json.decode(raw)
    for _ in range(_MAX_DETAILS):
        if not _remove(value, problem.path[len(at) :]):
            raise problem
        try:
            return _named(
                lambda: msgspec.json.decode(msgspec.json.encode(value), type=kind, strict=False), at
            )
        except Unreadable as further:
            if further.code != "invalid_type":  # the removed member is required
                raise problem from None
            problem = further
    raise problem


def _remove(value: Any, path: Path) -> bool:
    """Remove the member if it may be missing. Returns whether it was removed."""
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
