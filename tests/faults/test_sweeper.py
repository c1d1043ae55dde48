"""The sweeper dies, freezes or is cut off: F25. The standby leads, and what needs sweeping is swept."""

import asyncio
import signal
import time
from collections.abc import Iterator

import pytest

from chat.sweeper.process import ROLE
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.proxy import Proxy
from tests.faults.scenario import Scenario, WatchedTurn, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

# Three times what it takes: the lease of 10 s, and the standby's next try a second later.
TAKEOVER_LIMIT_S = 30.0
LEADER = "SELECT owner FROM chat_leadership WHERE role = %s AND lease_until > now()"


def leader(cluster: Cluster) -> int | None:
    """The number of the sweeper that leads."""
    rows = cluster.rows(LEADER, ROLE)
    return rows[0][0] if rows else None


async def follow(cluster: Cluster, before: int | None) -> None:
    """Wait until another sweeper leads than `before`."""
    await asyncio.to_thread(
        cluster.wait_until, lambda: leader(cluster) not in (None, before), "a new leader", TAKEOVER_LIMIT_S
    )


@pytest.fixture
def database(cluster: Cluster) -> Iterator[Proxy]:
    """Between Postgres and the sweeper that leads."""
    with Proxy.before(cluster.database_url) as proxy:
        cluster.kill("sweeper")
        before = leader(cluster)
        cluster.stack.start("sweeper", "sweeper.leader", {"DATABASE_URL": proxy.url})
        cluster.wait_until(lambda: leader(cluster) not in (None, before), "the leader")
        yield proxy
        cluster.kill("sweeper.leader")


async def streaming(cluster: Cluster, scenario: Scenario) -> list[WatchedTurn]:
    cluster.upstream.reply({"words": 100, "every_s": 0.03})
    questions = await scenario.ask_many(4)
    for question in questions:
        await question.showing("10 ")
    return questions


@pytest.mark.core
async def test_the_standby_takes_over_from_a_killed_sweeper(cluster: Cluster, scenario: Scenario) -> None:
    await asyncio.to_thread(cluster.wait_until, lambda: leader(cluster), "a leader")
    cluster.stack.start("sweeper", "sweeper.standby")
    questions = await streaming(cluster, scenario)
    before = leader(cluster)
    scenario.record_fault()
    cluster.kill("sweeper", "llm.1")
    await follow(cluster, before)
    record("F25", "kill -9 of the sweeper: to a new leader", time.monotonic() - scenario.faults[0])
    for question in questions:
        assert (await question.ended()).text == words(100)
    report = await scenario.check()
    record("F25", "a worker killed with it: to first new packet", report.figures["takeover"])


@pytest.mark.parametrize("how", ["frozen", "cut off"])
async def test_the_standby_takes_over_from_a_sweeper_that_only_its_lease_tells_of(
    cluster: Cluster, scenario: Scenario, database: Proxy, how: str
) -> None:
    """Its session and its lock stay in Postgres. It comes back, and stands by."""
    cluster.stack.start("sweeper", "sweeper.standby")
    questions = await streaming(cluster, scenario)
    before = leader(cluster)
    scenario.record_fault()
    if how == "frozen":
        cluster.stack.signal("sweeper.leader", signal.SIGSTOP)
    else:
        database.blackhole()
    cluster.kill("llm.1")
    await follow(cluster, before)
    record("F25", f"the sweeper {how}: to a new leader", time.monotonic() - scenario.faults[0])
    for question in questions:
        assert (await question.ended()).text == words(100)
    after = leader(cluster)
    cluster.stack.signal("sweeper.leader", signal.SIGCONT)
    database.heal()
    report = await scenario.check()
    record(
        "F25", f"a worker killed as the sweeper was {how}: to first new packet", report.figures["takeover"]
    )
    assert leader(cluster) == after
    assert (await (await scenario.ask()).ended()).stop_reason == "finished"
    await scenario.check()
