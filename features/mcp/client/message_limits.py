"""Limits what one message of a server may hold, counted before it is parsed: parsing blocks the loop of all runs. Pure."""

import re
from typing import Final

from features.mcp.client.configuration import MAX_MESSAGE_BYTES, TOO_LARGE

# Some 50 ms to parse and validate. A list of 1,000 tools has half as many.
MAX_VALUES: Final = 50_000
TOO_MANY: Final = f"The server sent a message of more than {MAX_VALUES:,} values."
# A string ends with its line at the latest: JSON has no line ends in strings.
_STRING: Final = re.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+(?:"|\\?(?=\n)|(\\?)\Z)')
_BEFORE_VALUES: Final = (b",", b"[", b"{")
_PART: Final = 64 * 1024


class MessageLimits:
    """Counts what is received of a message, or of a stream of events: each is a message, whose bytes the SDK limits."""

    def __init__(self, *, is_stream: bool = False) -> None:
        self._is_stream = is_stream
        self._bytes = self._values = 0
        self._left = b""  # the end of the last piece, without which the next cannot be read

    def take(self, piece: bytes) -> str:
        """Count a piece. Returns why no more may be taken; empty: more may."""
        self._bytes += len(piece)
        if self._bytes > MAX_MESSAGE_BYTES and not self._is_stream:
            return TOO_LARGE
        parts = (piece[at : at + _PART] for at in range(0, len(piece), _PART))
        return TOO_MANY if any(map(self._has_too_many, parts)) else ""

    def _has_too_many(self, piece: bytes) -> bool:
        text, self._left = self._left + piece.replace(b"\r", b""), b""
        outside = _STRING.sub(self._without_string, text)
        if not self._left and outside.endswith(b"\n"):
            self._left = b"\n"
        most = 0
        for number, event in enumerate(outside.split(b"\n\n") if self._is_stream else [outside]):
            self._values = (0 if number else self._values) + sum(map(event.count, _BEFORE_VALUES))
            most = max(most, self._values)
        return most > MAX_VALUES

    def _without_string(self, found: re.Match[bytes]) -> bytes:
        if found[1] is not None:  # it goes on in the next piece
            self._left = b'"' + found[1]
        return b""
