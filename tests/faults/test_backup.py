"""The embedded database is dumped while it runs and restored elsewhere, with its files, by the words of docs/operations.md."""

import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.instance import PATIENCE_S, ROOT, LaunchedInstance, free_port
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

TEXT = b"The tide turns twice a day."


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[LaunchedInstance]:
    with Upstream() as upstream:
        upstream.reply({"text": "So."})
        instance = LaunchedInstance(tmp_path, LLM_BASE_URL=upstream.base_url, LLM_MODELS="alpha").start()
        yield instance
        instance.stop()


def documented() -> tuple[str, str]:
    """The commands that back up, and those that restore."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    section = text.partition("## Backup and restore\n")[2].partition("\n## ")[0]
    backup, restore = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return backup, restore


def shell(instance: LaunchedInstance, commands: str, data: Path | None = None) -> tuple[int, str]:
    environment = instance.environment() | ({"DATA_DIR": str(data)} if data else {})
    command = f'turnwire() {{ {shlex.quote(sys.executable)} turnwire.py "$@"; }}\n'
    done = subprocess.run(
        ["/bin/sh", "-ec", command + commands], cwd=instance.code, env=environment, capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


async def titled(instance: LaunchedInstance, session: str, title: str = "") -> str:
    """The title of the session, after it is changed to `title`."""
    async with Client.login(instance.address, "demo", "demo") as demo:
        if title:
            await demo.call("PATCH", f"sessions/{session}/", json={"title": title})
        return str((await demo.call("GET", f"sessions/{session}/"))["title"])


@asynccontextmanager
async def started(instance: LaunchedInstance, data: Path) -> AsyncIterator[LaunchedInstance]:
    """The same instance with other data."""
    other = LaunchedInstance(instance.code.parent, data=data, port=free_port(), **instance._environment)
    try:
        yield other.start()
    finally:
        other.stop()


def refused(done: tuple[int, str], status: int, words: str) -> None:
    assert (done[0], words in done[1]) == (status, True), done


async def test_chats_and_files_are_there_after_a_restore(instance: LaunchedInstance, tmp_path: Path) -> None:
    async with Client.login(instance.address, "demo", "demo") as demo:
        session = (await demo.new_session(title="Tides"))["id"]
        file = (await demo.call("POST", "files/", status=201, files={"file": ("tide.txt", TEXT)}))["id"]
    backup, restore = documented()
    refused(
        shell(instance, backup, tmp_path / "elsewhere"), 78, "elsewhere is not that of a running instance"
    )
    assert shell(instance, backup)[0] == 0
    refused(shell(instance, restore), 1, "already running at")
    await titled(instance, session, "Changed since")
    assert instance.stop() == 0
    refused(shell(instance, restore), 78, "holds a database already")
    refused(
        shell(instance, "echo > broken; turnwire restore broken --replace"),
        1,
        "pg_restore",
    )

    done = shell(instance, restore, tmp_path / "restored data")
    assert done[0] == 0, done
    async with started(instance, tmp_path / "restored data") as restored:
        assert await titled(restored, session) == "Tides"
        async with Client.login(restored.address, "demo", "demo") as demo:
            assert (await demo.http.get(f"/api/files/{file}/content/")).content == TEXT
    # What did not succeed has changed nothing; what may replace it does.
    async with started(instance, instance.data) as unchanged:
        assert await titled(unchanged, session) == "Changed since"
    done = shell(instance, restore.replace("turnwire.tar", "turnwire.tar --replace"))
    assert done[0] == 0, done
    async with started(instance, instance.data) as replaced:
        assert await titled(replaced, session) == "Tides"
