"""The oldest Postgres that is supported, and one without pgvector: Debian's postgresql-15."""

import asyncio
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

from config import embedded
from tests.e2e.client import Client
from tests.faults.documented_rights import PATIENCE_S, expect_file_read, start_everything
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.full, pytest.mark.timeout(300)]

PROGRAMS = Path("/usr/lib/postgresql/15/bin")


class OldestPostgres(Services):
    """With a cluster of its own: the one that tests copy is of the embedded version."""

    @cached_property
    def postgres(self) -> embedded.Server:
        self.directory.chmod(
            0o711
        )  # this version's initdb, run for root by another user, enters its folder by its path
        return embedded.postgres(self._directories[0], durable=False)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """Migrated from an empty database; starts nothing."""
    if not PROGRAMS.exists():
        pytest.skip("postgresql-15 is not installed: the oldest Postgres was NOT tested")
    monkeypatch.setattr(embedded, "programs_for", lambda *_: PROGRAMS)
    services = OldestPostgres().start()
    with Upstream() as upstream, SearchServer() as searching:
        stack = Stack(services, upstream, searching)
        stack.prepare()
        yield stack
        print({name: stack.log(name)[-3000:] for name in stack.lines})
        stack.stop()
    services.stop()


async def test_the_oldest_postgres_serves_every_process_an_answer_a_file_and_searches(stack: Stack) -> None:
    await start_everything(stack)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "When is low water?")
        assert "low water" in (await socket.ended(turn["runs"][0]["id"])).text
        await expect_file_read(alice)
        found = await alice.call("GET", "sessions/", params={"search": "low water"})
        assert [one["id"] for one in found["results"]] == [session["id"]]
        await expect_passage_found(alice)
    for name in stack.lines:
        assert stack.processes[name].poll() is None, stack.log(name)


async def expect_passage_found(client: Client) -> None:
    base = await client.call("POST", "knowledge-bases/", status=201, json={"name": "Tides"})
    text = {"title": "Tides", "text": "High water is at noon."}
    await client.call("POST", f"knowledge-bases/{base['id']}/documents/", status=201, json=text)
    search = f"knowledge-bases/{base['id']}/search/"
    async with asyncio.timeout(PATIENCE_S):
        while not await client.call("GET", search, params={"q": "high water"}):  # noqa: ASYNC110  asks another process
            await asyncio.sleep(0.1)
