"""Decodes what is used of another product's objects, with errors that name the member. Pure."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from chat.sessions.foreign_exports.elements import Path
from chat.sessions.portable.rules import EARLIEST

T = TypeVar("T")

_PATH: Final = re.compile(r" - at `\$(.*)`$")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`")
# Some products write milliseconds.
_SECONDS_END: Final = 100_000_000_000


class Unreadable(Exception):
    """A conversation is not what the product writes. path: of the member in the conversation."""

    def __init__(self, code: str, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.path = code, message, path


def decode(raw: bytes | msgspec.Raw, kind: type[T], at: Path = ()) -> T:
    """at: where `raw` is in the conversation. Members that the type does not have are ignored. Raises Unreadable."""
    return _named(lambda: msgspec.json.decode(raw, type=kind), at)


def convert(value: Any, kind: type[T], at: Path = ()) -> T:
    """As decode, of a value that is decoded."""
    return _named(lambda: msgspec.convert(value, kind), at)


def moment(value: float | str | None, at: Path) -> datetime | None:
    """Seconds or milliseconds since 1970, or ISO 8601. None: not given. Raises Unreadable."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            found = read if read.tzinfo else read.replace(tzinfo=UTC)
        else:
            found = datetime.fromtimestamp(value / 1000 if value > _SECONDS_END else value, UTC)
    except (ValueError, OverflowError, OSError):
        raise Unreadable("invalid_value", "This is not a time.", at) from None
    return found if found > EARLIEST else None


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
