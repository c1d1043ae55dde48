"""Splits a byte stream into server-sent events. Pure; does not interpret their data.

Follows the WHATWG specification: lines end in LF, CR LF or CR; an event consists of `data` lines and ends with a blank
line; without `data` there is no event. Comments and other fields are skipped, except `error`, in which older llama.cpp
servers report one, and events of the type `error`, which become an object with that member. The size of an unfinished
event is bounded.
"""

import json

# Far above any chunk of a model server: even the arguments of a tool call arrive in small deltas.
MAX_EVENT_BYTES = 4 * 1024 * 1024


class EventTooLong(ValueError):
    """The upstream does not send an event stream."""


class EventSplitter:
    """An incremental splitter: feed() takes bytes as they arrive and returns the data of the completed events."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # fragments of an unfinished line
        self._data: list[bytes] = []  # data lines of an unfinished event
        self._held_bytes = 0
        self._after_cr = False
        self._is_error = False  # the type of an unfinished event

    def feed(self, received: bytes) -> list[bytes]:
        """Return the events that these bytes complete, oldest first. Raises EventTooLong."""
        if not (self._line or self._data or self._after_cr or self._is_error):
            events = _whole_events(received)
            if events is not None:
                return events
        if self._after_cr and received.startswith(b"\n"):
            received = received[1:]  # the second half of a CR LF that was split
            self._after_cr = False
        if not received:
            return []
        self._after_cr = received.endswith(b"\r")
        lines = received.splitlines()
        unfinished = b"" if received.endswith((b"\n", b"\r")) else lines.pop()
        events = self._take(lines)
        if unfinished:
            self._line.append(unfinished)
            self._hold(len(unfinished))
        return events

    def _take(self, lines: list[bytes]) -> list[bytes]:
        if lines and self._line:
            lines[0] = b"".join([*self._line, lines[0]])
            self._line.clear()
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
                self._hold(len(line))
            elif line.startswith(b"error:"):
                self._data.append(_as_error(line[6:]))
                self._hold(len(line))
            elif line.startswith(b"event:"):
                self._is_error = line[6:].strip() == b"error"
            elif not line:
                if data := b"\n".join(self._data):
                    events.append(_as_error(data) if self._is_error else data)
                self._data.clear()
                self._is_error = False
                self._held_bytes = 0
        return events

    def _hold(self, count: int) -> None:
        self._held_bytes += count
        if self._held_bytes > MAX_EVENT_BYTES:
            raise EventTooLong(f"an event of more than {MAX_EVENT_BYTES} bytes")


def _as_error(said: bytes) -> bytes:
    """Return a chunk that reports this error, which is JSON or a text."""
    try:
        error = json.loads(said)
    except (ValueError, RecursionError):
        error = said.decode("utf-8", "replace").strip()
    return json.dumps({"error": error or True}).encode()


def _whole_events(received: bytes) -> list[bytes] | None:
    """Split whole events of one data line each, as nearly all reads are. None: use the general path."""
    if not received.endswith(b"\n\n") or b"\r" in received or len(received) > MAX_EVENT_BYTES:
        return None
    events = []
    for line in received[:-2].split(b"\n\n"):
        if b"\n" in line or not line.startswith(b"data: {"):
            return None  # not a chunk; or without data, which is no event
        events.append(line[6:])
    return events
