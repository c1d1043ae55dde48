"""LineBuffer: joins the output of a process into whole lines, of which none stores more than `longest` bytes. Pure."""

from typing import Final

# A request to a model is logged as one line.
LONGEST_LINE_BYTES: Final = 8 * 1024 * 1024


class LineBuffer:
    def __init__(self, longest: int = LONGEST_LINE_BYTES) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._bytes = 0

    def take(self, data: bytes) -> list[str]:
        """Return the lines that end in `data`, which follows the data taken before.
        A line that is too long is cut, and its length is added.
        """
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._add(piece)
            lines.append(self._line())
        self._add(rest)
        return lines

    def end(self) -> list[str]:
        """Return the unfinished line of a process that has ended."""
        return [self._line()] if self._bytes else []

    def _add(self, piece: bytes) -> None:
        if kept := piece[: max(0, self._longest - self._bytes)]:
            self._pieces.append(kept)
        self._bytes += len(piece)

    def _line(self) -> str:
        line = b"".join(self._pieces).decode(errors="replace").rstrip()
        if self._bytes > self._longest:
            line += f" … [cut: the line has {self._bytes:,} bytes]"
        self._pieces, self._bytes = [], 0
        return line
