"""Files read in the process that reads them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ingest import child
from ingest.reader.reading_outcome import Outcome
from knowledge.files.file_types import detect_type


class Reading:
    """One file, read in the real child process."""

    pk = UUID(int=0)

    def __init__(self, folder: Path, name: str, content: bytes) -> None:
        self.folder = folder
        detected = detect_type(name, content)
        assert not detected.mismatch
        self.content_type = detected.content_type
        (folder / "content").write_bytes(content)
        began = time.monotonic()
        self.outcome: Outcome = child.read_in_child(self, folder)  # type: ignore[arg-type]
        self.seconds = time.monotonic() - began

    def extend_lease(self) -> bool:
        return True

    @property
    def text(self) -> str:
        assert self.outcome.error == "", self.outcome
        return (self.folder / "text").read_bytes().decode()


def start_with(monkeypatch: pytest.MonkeyPatch, command_of: Callable[..., list[str]]) -> None:
    """Start the child by another command."""
    real = child.subprocess.Popen

    def start(command: list[str], **options: Any) -> Any:
        return real(command_of(*command[1:]), **options)

    monkeypatch.setattr(child.subprocess, "Popen", start)
