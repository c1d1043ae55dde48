"""The request to start a turn, and the checks that need no database. Pure."""

import hashlib
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cache
from typing import Final
from uuid import UUID

from msgspec import json

from chat.models.turn import SentBeside
from chat.protocol.errors import ApiError
from chat.transcript.run_options import RunOptions

MAX_ADDITIONAL_CONTEXT_CHARACTERS: Final = 8_000
MAX_CLIENT_MESSAGE_ID_CHARACTERS: Final = 100
MAX_MODELS: Final = 4
MAX_FILES: Final = 50
MAX_KNOWLEDGE_BASES: Final = 20

# Control, format (zero-width) and separator characters, and letters without a visible glyph.
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


class DefaultParent(Enum):
    """The parent of a message whose request names none."""

    TIP = "tip"  # of the current branch


@dataclass(frozen=True)
class TurnRequest:
    """The body of POST turns and of the websocket's `send`."""

    text: str
    parent: UUID | DefaultParent | None = DefaultParent.TIP  # None: the root
    models: tuple[str, ...] | None = None  # None: the agent's, or the default model
    files: tuple[str, ...] = ()
    forced_tool: str | None = None
    client_message_id: str | None = None
    additional_context: str = ""
    knowledge_bases: tuple[
        UUID, ...
    ] = ()  # picked bases, the only ones searched; empty: the session's and its agent's
    # Override those of the session and its agent; the value None means the model's default.
    options: RunOptions = field(default_factory=dict)

    def check(self, max_characters: int) -> None:
        """Raise ApiError for a request that no session accepts."""
        check_text(self.text, max_characters)
        if len(self.files) > MAX_FILES or len(set(self.files)) != len(self.files):
            raise ApiError("invalid_value", f"Name up to {MAX_FILES} different files.", field="files")
        if self.models is not None:
            check_models(self.models)

    @property
    def beside(self) -> SentBeside:
        return SentBeside(self.additional_context, self.knowledge_bases)

    @property
    def stored_bytes(self) -> int:
        """The bytes that the request adds to the sender's storage before it is answered."""
        return len(self.text.encode()) + len(self.additional_context.encode())

    def digest(self) -> str:
        """Return the SHA-256 of all but client_message_id: equal for a repeat, different for another request."""
        compared = asdict(self) | {"client_message_id": None}
        if not self.knowledge_bases:  # like requests sent before this member existed
            del compared["knowledge_bases"]
        if not self.options:
            del compared["options"]
        return hashlib.sha256(json.encode(compared, order="sorted")).hexdigest()


def check_text(text: str, max_characters: int) -> None:
    """Raise ApiError for a text that no message may have: without visible characters, or too long."""
    if not has_visible_text(text):
        raise ApiError("message_empty", field="text")
    if len(text) > max_characters:
        message = f"The message has {len(text)} characters; the limit is {max_characters}."
        raise ApiError("message_too_long", message, field="text", limit=max_characters, size=len(text))


def has_visible_text(text: str) -> bool:
    """Return whether the text has a visible character."""
    return any(_is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    return character not in _INVISIBLE and unicodedata.category(character) not in _INVISIBLE_CATEGORIES


@cache
def invisible_text_pattern() -> str:
    """Return a JSON Schema pattern that matches texts without a visible character. Takes a tenth of a second, once."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if _is_visible(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    invisible = "".join(f"{_escape(first)}-{_escape(last)}" for first, last in ranges)
    return f"^[{invisible}]*$"


def _escape(code: int) -> str:
    """Escape a code point for the pattern; above U+FFFF literally, since no escape is known to all regex dialects."""
    return f"\\u{code:04x}" if code <= 0xFFFF else chr(code)


def are_models(names: Sequence[str]) -> bool:
    """Return whether the names are distinct and at most MAX_MODELS."""
    return len(names) <= MAX_MODELS and len(set(names)) == len(names)


def check_models(names: Sequence[str]) -> None:
    """Raise ApiError unless there are 1 to MAX_MODELS distinct names."""
    if not names or not are_models(names):
        raise ApiError("models_invalid", field="models")
