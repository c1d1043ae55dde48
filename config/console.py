"""The launcher's output: whole lines, on the terminal and in a log file of limited size.

Writing never blocks: if nothing reads the pipe, its lines are dropped there and are in the file only.
"""

import logging
import logging.handlers
import os
import select
import sys
from pathlib import Path
from typing import Final

# A request to a model is logged as one line.
LONGEST_STORED_BYTES: Final = 8 * 1024 * 1024


class LineBuffer:
    """Joins the output of a process into whole lines, of which none stores more than `longest` bytes. Pure."""

    def __init__(self, longest: int = LONGEST_STORED_BYTES) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._bytes = 0

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that end in `data`, which follows the data of the calls before.
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
        if fitting := piece[: max(0, self._longest - self._bytes)]:
            self._pieces.append(fitting)
        self._bytes += len(piece)

    def _line(self) -> str:
        line = b"".join(self._pieces).decode(errors="replace").rstrip()
        if self._bytes > self._longest:
            line += f" … [cut: the line has {self._bytes:,} bytes]"
        self._pieces, self._bytes = [], 0
        return line


FILE_NAME = "turnwire.log"
COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
# A pipe that select reports as writable takes this much without blocking: PIPE_BUF of Linux. On macOS, where it is
# 512, a longer line may block for a moment.
LONGEST_LINE_BYTES = 4096
# Size of each of three files: several of the longest lines.
FILE_BYTES = 32_000_000


class Console:
    """Writes the lines of all processes, each with the name of its process."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        logging.raiseExceptions = False  # a full disk must not stop the services
        self._file = logging.handlers.RotatingFileHandler(
            directory / FILE_NAME, maxBytes=FILE_BYTES, backupCount=2, encoding="utf-8"
        )
        self._file.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._names: list[str] = []

    def write_line(self, name: str, line: str) -> None:
        """Write `line` with `name`, the process that printed it."""
        label = f"{name:<9}│ "
        self._file.emit(logging.LogRecord("turnwire", logging.INFO, "", 0, label + line, None, None))
        if self._coloured:
            label = f"\x1b[{self._colour(name)}m{label}\x1b[0m"
        _write_unless_full(sys.stdout.fileno(), label.encode(), line.encode(errors="replace"))

    def _colour(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return COLOURS[self._names.index(name) % len(COLOURS)]


def _write_unless_full(descriptor: int, label: bytes, text: bytes) -> None:
    line = label + text + b"\n"
    if len(line) > LONGEST_LINE_BYTES:
        mark = f" … [cut: {len(text):,} bytes; whole in {FILE_NAME}]\n".encode()
        begin = line[: LONGEST_LINE_BYTES - len(mark)].decode(errors="ignore")
        line = begin.encode() + mark
    try:
        _, writable, _ = select.select([], [descriptor], [], 0)
        if writable:
            os.write(descriptor, line)
    except OSError:
        pass  # the terminal has closed; the launcher receives SIGHUP
