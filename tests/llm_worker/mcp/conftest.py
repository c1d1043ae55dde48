from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.instance import ROOT
from tests.llm_worker.mcp.client import Client


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client()
    yield made
    await made.connections.close()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the calls that change something have written."""
    path = tmp_path / "journal"
    path.touch()
    monkeypatch.setenv("JOURNAL", str(path))
    monkeypatch.setenv("WORKER_ROOT", str(ROOT))
    return path
