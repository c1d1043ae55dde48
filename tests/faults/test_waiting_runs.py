"""A thousand runs that wait for their users' approval of a call to an MCP server hold no worker, connection or memory."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client import Client
from tests.faults.cluster import Cluster, until
from tests.faults.measurements import record
from tests.instance import is_listening

pytestmark = [pytest.mark.fault, pytest.mark.timeout(600)]

RUNS = 1000
SIDE_BY_SIDE = 16
REDIS_BYTES_PER_RUN = 2048
# Beyond the minute for which the packet log of a run is kept after its attempt (docs/decisions/0153).
LOGS_EXPIRE_S = 120
WRITE = {"call": {"name": "tests__write", "arguments": {"text": "Ebbe"}}}
ADD_SERVER = """
from django.contrib.auth.models import User
from features.mcp.servers import create_server
fields = {"name": "tests", "transport": "http", "url": "http://127.0.0.1:%d/mcp", "command": ""}
create_server(User.objects.get(username="root"), fields)"""
LISTED = "SELECT id FROM chat_mcpserver WHERE status = 'ready'"
WAITING = "SELECT tool_call_id FROM chat_approval WHERE decision = '' ORDER BY id"
RUNS_BY_STATUS = "SELECT status, owner, count(*) FROM chat_run GROUP BY status, owner"
COMPLETED = "SELECT count(*) FROM chat_run WHERE status = 'completed'"
# Connections of pools that nothing uses are idle; those of a transaction or a statement are not.
CONNECTIONS_IN_USE = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster.running(MAX_RUNS_PER_USER=str(RUNS)) as cluster:
        yield cluster


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client.login(cluster.stack.base_url, "alice", "alice") as client:
        yield client


@pytest.fixture
def journal(cluster: Cluster) -> Path:
    """What the server's calls have written; the server runs, and its tools are listed."""
    stack = cluster.stack
    path = stack.directory / "journal"
    path.touch()
    command = f"{sys.executable} -m tests.mcp_server http {stack.mcp_port}"
    stack.start(command, "tests server", {"JOURNAL": str(path)})
    cluster.wait_until(lambda: is_listening(stack.mcp_port), "the server of the tests")
    stack.manage("shell", "-v", "0", "-c", ADD_SERVER % stack.mcp_port)
    cluster.wait_until(lambda: cluster.rows(LISTED), "the list of its tools")
    return path


async def side_by_side(function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def within(value: Any) -> Any:
        async with room:
            return await function(value)

    return await asyncio.gather(*(within(value) for value in values))


def redis_bytes(cluster: Cluster) -> int:
    with cluster.redis() as client:
        return int(client.info("memory")["used_memory"])


def count_logs(cluster: Cluster) -> int:
    with cluster.redis() as client:
        return sum(1 for _ in client.scan_iter(match="*:log", count=1000))


async def holding_nothing(cluster: Cluster, bytes_before: int) -> None:
    """Return once no run has a worker, a task, a connection in use, or more of Redis than it may."""
    # A call is listed before the worker lets its run go.
    await until(lambda: cluster.rows(RUNS_BY_STATUS) == [("waiting", None, RUNS)])
    with cluster.redis() as redis:
        assert (redis.llen("llm"), redis.hlen("unacked")) == (0, 0)
    await until(lambda: cluster.rows(CONNECTIONS_IN_USE) == [(0,)])
    await until(lambda: not count_logs(cluster), LOGS_EXPIRE_S)
    for_each = (redis_bytes(cluster) - bytes_before) / RUNS
    print(f"{for_each:.0f} bytes of Redis for each waiting run")
    assert for_each < REDIS_BYTES_PER_RUN


async def test_a_thousand_runs_wait_for_nothing_but_their_users(
    cluster: Cluster, client: Client, journal: Path
) -> None:
    cluster.upstream.reply(WRITE, after_tools=0)
    cluster.upstream.reply({"text": "Written."}, after_tools=1)
    agent = await client.call(
        "POST", "agents/", json={"name": "Scribe", "prompt": "", "tools": ["tests__*"]}, status=201
    )

    async def ask(number: int) -> None:
        session = await client.new_session(agent=agent["id"])
        await client.ask(session, f"Write {number}")

    await ask(0)
    await until(lambda: cluster.rows(RUNS_BY_STATUS) == [("waiting", None, 1)])
    bytes_before = redis_bytes(cluster)
    began = time.monotonic()
    await side_by_side(ask, list(range(1, RUNS)))
    await until(lambda: len(cluster.rows(WAITING)) == RUNS)
    record("F31", "1,000 runs: from the first send until all wait", time.monotonic() - began)

    await holding_nothing(cluster, bytes_before)
    cluster.kill(*(name for name in list(cluster.stack.processes) if name != "tests server"))
    for name in ("web", "sweeper", "llm"):
        cluster.stack.start(name)
    await asyncio.to_thread(cluster.stack.wait_until_ready)
    approved_at = time.monotonic()

    async def approve(call: Any) -> None:
        await client.call("POST", f"tool-calls/{call}/approval/", json={"approved": True}, status=202)

    await side_by_side(approve, [call for (call,) in cluster.rows(WAITING)])
    await until(lambda: cluster.rows(COMPLETED) == [(RUNS,)])
    record("F31", "1,000 runs: from the first approval until all end", time.monotonic() - approved_at)
    written = (await asyncio.to_thread(journal.read_text)).splitlines()
    assert len(written) == len(set(written)) == RUNS
