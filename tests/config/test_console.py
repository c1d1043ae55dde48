"""What the launcher does with the lines of its processes: whole in its file, cut with a mark on the terminal."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from config.console import LONGEST_LINE_BYTES, Console, LineBuffer

pytestmark = pytest.mark.pure


class Terminal:
    """The end of a pipe that stands for it."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()

    def fileno(self) -> int:
        return self.write_end

    def isatty(self) -> bool:
        return False

    def read(self) -> str:
        return os.read(self.read_end, 1_000_000).decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    terminal = Terminal()
    # Not sys.stdout itself, which pytest replaces before each test.
    monkeypatch.setattr("config.console.sys", SimpleNamespace(stdout=terminal))
    yield terminal
    os.close(terminal.read_end)
    os.close(terminal.write_end)


@pytest.fixture
def console(terminal: Terminal, tmp_path: Path) -> Iterator[Console]:
    console = Console(tmp_path)
    yield console
    console._file.close()


@pytest.mark.slow
def test_a_long_line_is_whole_in_the_file_and_cut_with_a_mark_on_the_terminal(
    console: Console, terminal: Terminal, tmp_path: Path
) -> None:
    request = {"event": "LLM_REQUEST", "messages": ["ქვეყანა " * 300_000]}
    line = json.dumps(request, ensure_ascii=False)
    assert len(line.encode()) > 6_000_000
    console.write_line("llm.1", line)
    [written] = (tmp_path / "turnwire.log").read_text().splitlines()
    assert json.loads(written.partition("│ ")[2]) == request
    shown = terminal.read()
    assert len(shown.encode()) <= LONGEST_LINE_BYTES
    assert shown.startswith('llm.1    │ {"event": "LLM_REQUEST"')
    assert shown.endswith(f"… [cut: {len(line.encode()):,} bytes; whole in turnwire.log]\n")
    assert "�" not in shown


def test_a_short_line_is_whole_on_both(console: Console, terminal: Terminal, tmp_path: Path) -> None:
    console.write_line("web", "ready")
    assert terminal.read() == "web      │ ready\n"
    assert (tmp_path / "turnwire.log").read_text().endswith("web      │ ready\n")


def test_lines_are_put_together_from_what_is_read() -> None:
    buffer = LineBuffer()
    assert [buffer.feed(data) for data in (b"on", b"e\ntwo\nth", b"ree\r\n", b"\n")] == [
        [], ["one", "two"], ["three"], [""]
    ]  # fmt: skip


def test_what_a_process_leaves_unfinished_is_a_line_of_its_own() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b"one\ntw") + buffer.end() + buffer.feed(b"three\n") == ["one", "tw", "three"]
    assert buffer.end() == []


def test_a_line_that_is_too_long_keeps_its_beginning_and_the_next_one_is_whole() -> None:
    buffer = LineBuffer(longest=10)
    assert buffer.feed(b"0123456789\n") == ["0123456789"]
    assert buffer.feed(b"01234567") + buffer.feed(b"89ab") + buffer.feed(b"cd\nnext\n") == [
        "0123456789 … [cut: the line has 14 bytes]", "next"
    ]  # fmt: skip
