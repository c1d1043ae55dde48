"""The sweeper dies: F25. The standby leads, and what needs sweeping is swept."""

import asyncio
import time

import pytest

from chat.sweeper.process import LEADER
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

HOLDER = """SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND ((classid::bigint << 32) | objid::bigint) = %s"""


def leader(cluster: Cluster) -> int | None:
    """The Postgres backend of the sweeper that leads."""
    rows = cluster.rows(HOLDER, LEADER)
    return rows[0][0] if rows else None


async def test_the_standby_takes_over_from_a_killed_sweeper(cluster: Cluster, scenario: Scenario) -> None:
    await asyncio.to_thread(cluster.wait_until, lambda: leader(cluster), "a leader")
    cluster.stack.start("sweeper", "sweeper.standby")
    cluster.upstream.reply({"words": 100, "every_s": 0.03})
    questions = await scenario.ask_many(4)
    for question in questions:
        await question.showing("10 ")
    before = leader(cluster)
    scenario.record_fault()
    cluster.kill("sweeper", "llm.1")
    await asyncio.to_thread(cluster.wait_until, lambda: leader(cluster) not in (None, before), "a new leader")
    record("F25", "kill -9 of the sweeper: to a new leader", time.monotonic() - scenario.faults[0])
    for question in questions:
        assert (await question.ended()).text == words(100)
    report = await scenario.check()
    record("F25", "a worker killed with it: to first new packet", report.figures["takeover"])
