"""What becomes of a child process that goes astray, and what it knows. No database is needed."""

import os
import resource
import sys
from pathlib import Path

import pytest

from ingest import child
from ingest.reader import process_limits
from ingest.reader.reading_outcome import Outcome
from tests.ingest.readings import Reading, start_with

# What replaces the reader in the child, to see the limits of any library that goes astray.
ASTRAY = {
    "memory": ("x = [bytearray(50 * 1024 * 1024) for _ in range(1000)]", "document_limits"),
    "recursion": ("f = lambda: f()\nf()", "document_limits"),
    "a crash": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "document_corrupt"),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "document_limits"),
    "an exit without an outcome": ("import os; os._exit(0)", "document_corrupt"),
    "a full disk": ("open('/dev/full', 'w').write('x' * 10**6)", "document_corrupt"),
}


def go_astray(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str, before: str = "") -> None:
    """Have the child run this code in place of the reader of text."""
    program = folder / "astray.py"
    body = "\n".join(f"    {line}" for line in code.split("\n"))
    program.write_text(
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, '')\n"
        f"from ingest.reader import __main__, process_limits, text\n{before}\n"
        f"def read(path):\n{body}\n    return ''\n"
        "text.read = read\n__main__.main(sys.argv[1], Path(sys.argv[2]))\n",
        encoding="utf-8",
    )
    start_with(monkeypatch, lambda *command: [sys.executable, str(program), *command[2:]])


@pytest.mark.parametrize("case", ASTRAY)
def test_a_reader_that_goes_astray_ends_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    code, expected = ASTRAY[case]
    go_astray(monkeypatch, tmp_path, code)
    assert Reading(tmp_path, "a.txt", b"x").outcome == Outcome(error=expected)


@pytest.mark.full
@pytest.mark.timeout(120)
def test_a_reader_that_computes_for_ever_is_ended_by_its_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_astray(monkeypatch, tmp_path, "while True: pass", before="__main__.CPU_S = (1, 2)")
    assert Reading(tmp_path, "a.txt", b"x").outcome == Outcome(error="document_limits")


def test_a_reader_that_waits_for_ever_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "WALL_CLOCK_S", 2.0)
    go_astray(
        monkeypatch, tmp_path,
        f"import os, time; open('{tmp_path}/pid', 'w').write(str(os.getpid())); time.sleep(600)",
    )  # fmt: skip
    with pytest.raises(TimeoutError):
        Reading(tmp_path, "a.txt", b"x")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_reader_knows_no_secret_of_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "tell nobody")
    go_astray(monkeypatch, tmp_path, "import os\nreturn ' '.join(sorted(os.environ))")
    assert set(Reading(tmp_path, "a.txt", b"x").text.split()) <= {
        "PATH", "LANG", "LC_CTYPE", "PYTHONDONTWRITEBYTECODE", "HOME", "TMPDIR",
    }  # fmt: skip


def test_no_reader_may_use_more_than_a_process_has() -> None:
    assert process_limits.MEMORY_BYTES < 1.5e9
    assert process_limits.CPU_S[1] < child.WALL_CLOCK_S < 90
    assert resource.RLIM_INFINITY != process_limits.MEMORY_BYTES
