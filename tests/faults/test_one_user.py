"""A3: one user does not stop the others: neither with huge sessions nor with a long queue."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests import huge_session
from tests.e2e.client import Client
from tests.faults.cluster import WORKERS, Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario
from tests.stack import constants

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]
SLOTS = 4  # of each worker
BACKLOG = 300
AT_ONCE = 16
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def small_cluster() -> Iterator[Cluster]:
    limits = {
        "MAX_RUNS_PER_USER": "5000",
        "LLM_CONCURRENCY": str(SLOTS),
        "TITLES": "0",
        **constants(MAX_QUEUED_RUNS=5000),
    }
    with Cluster.running(**limits) as cluster:
        yield cluster


@pytest.fixture
def cluster(small_cluster: Cluster) -> Cluster:
    small_cluster.restore()
    return small_cluster


def fill(cluster: Cluster, session: str, *, messages: int, calls: int) -> None:
    """Not analysed afterwards, as right after an import."""
    with psycopg.connect(cluster.database_url) as connection:
        huge_session.fill(connection.execute, session, messages=messages, calls=calls, answers=[2, messages])


async def answered_after(cluster: Cluster, session: Any, client: Client) -> float:
    """Seconds from a user's send to the end of the answer."""
    async with client.socket() as socket:
        await socket.subscribe(session["id"])
        began = time.monotonic()
        turn = await client.ask(session, "And me?")
        async with asyncio.timeout(LIMIT_S):
            assert (await socket.ended(turn["runs"][0]["id"])).stop_reason == "finished"
        return time.monotonic() - began


async def keep_plans_of_small_tables(cluster: Cluster) -> None:
    """Let the workers' connections prepare their statements while the tables are small, as on a new installation.

    Postgres keeps a plan from the sixth execution on, until the tables are analysed again.
    """
    async with Client.login(cluster.stack.base_url, "carol", "carol") as carol:
        with psycopg.connect(cluster.database_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        for _ in range(12):
            sessions = [await carol.new_session() for _ in range(2 * SLOTS)]
            await asyncio.gather(*(answered_after(cluster, session, carol) for session in sessions))


@pytest.mark.parametrize(
    ("messages", "calls"),
    [
        pytest.param(5_000, 500, id="as large as an import may be"),
        pytest.param(20_000, 20_000, id="from before there were limits"),
    ],
)
async def test_a_huge_session_delays_nobody_else(
    cluster: Cluster, scenario: Scenario, messages: int, calls: int
) -> None:
    await keep_plans_of_small_tables(cluster)
    huge = [await scenario.client.new_session() for _ in range(2)]
    for session in huge:
        await asyncio.to_thread(fill, cluster, session["id"], messages=messages, calls=calls)
    turns = [await scenario.client.ask(session, "What was it?") for session in huge]
    async with Client.login(cluster.stack.base_url, "bob", "bob") as bob:
        for _ in range(3):
            took = await answered_after(cluster, await bob.new_session(), bob)
            record("A3", f"another user's answer beside {messages} messages", took)
    # The runs end by themselves, answered or not, and nobody took them for lost.
    ids = [turn["runs"][0]["id"] for turn in turns]
    query = "SELECT attempt, failures FROM chat_run WHERE id = ANY(%s::uuid[]) AND ended_at IS NOT NULL"
    found = await asyncio.to_thread(
        cluster.wait_until, lambda: len(rows := cluster.rows(query, ids)) == len(ids) and rows, "their end"
    )
    assert set(found) == {(1, 0)}


async def test_a_long_queue_of_one_user_delays_nobody_else(cluster: Cluster, scenario: Scenario) -> None:
    """Every slot is taken, and most of the backlog still waits when the other user has the answer."""
    cluster.upstream.reply({"text": "Slowly"}, {"pause_s": 0.2})
    sessions = iter([await scenario.client.new_session() for _ in range(BACKLOG)])

    async def send() -> None:
        for session in sessions:
            await scenario.client.ask(session, "Count")

    sending = asyncio.gather(*(send() for _ in range(AT_ONCE)))
    await sending
    waiting = "SELECT count(*) FROM chat_run WHERE status = 'queued'"
    before = cluster.rows(waiting)[0][0]
    assert before > len(WORKERS) * SLOTS
    async with Client.login(cluster.stack.base_url, "bob", "bob") as bob:
        session = await bob.new_session()
        took = await answered_after(cluster, session, bob)
    left = cluster.rows(waiting)[0][0]
    record("A3", f"another user's answer behind {before} waiting runs", took)
    assert left > before / 2
    await asyncio.to_thread(
        cluster.wait_until, lambda: not cluster.rows(waiting)[0][0], "the backlog's end", 180
    )
