"""Server-sent events out of bytes cut anywhere. Pure; decides nothing about what the events say.

Lines end in LF, CR LF or CR; an event is its `data` lines, ended by a blank line; comments and other fields
are skipped. An unfinished event is kept, up to a bound, so that an endless line cannot eat the memory.
"""

# Far above any chunk a model server sends; a tool call's arguments arrive in small deltas as well.
MAX_EVENT_BYTES = 4 * 1024 * 1024


class EventTooLong(ValueError):
    """The upstream sends something that is no event stream: give up."""


class EventSplitter:
    """Feed it bytes as they come; get the data of each event that is complete."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the beginning of a line whose end has not come
        self._data: list[bytes] = []  # the data lines of an event whose end has not come
        self._held_bytes = 0
        self._after_cr = False

    def feed(self, received: bytes) -> list[bytes]:
        """The events completed by these bytes, oldest first. Raises EventTooLong."""
        if not (self._line or self._data or self._after_cr):
            events = _whole_events(received)
            if events is not None:
                return events
        if self._after_cr and received.startswith(b"\n"):
            received = received[1:]  # the second half of a line end that was cut in two
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
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data.clear()
                self._held_bytes = 0
        return events

    def _hold(self, count: int) -> None:
        self._held_bytes += count
        if self._held_bytes > MAX_EVENT_BYTES:
            raise EventTooLong(f"an event of more than {MAX_EVENT_BYTES} bytes")


def _whole_events(received: bytes) -> list[bytes] | None:
    """What nearly every piece is: whole events of one data line each. None: it has to be looked at line by line."""
    if not received.endswith(b"\n\n") or b"\r" in received or len(received) > MAX_EVENT_BYTES:
        return None
    events = []
    for line in received[:-2].split(b"\n\n"):
        if b"\n" in line or not line.startswith(b"data: "):
            return None
        events.append(line[6:])
    return events
