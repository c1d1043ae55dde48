"""The sweeper dies: F25. The standby leads, and what needs sweeping is swept."""

import asyncio
import time

import pytest

from chat.sweeper.process import LEADER
from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.scene import Scene, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

HOLDER = """SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND ((classid::bigint << 32) | objid::bigint) = %s"""


def leader(arena: Arena) -> int | None:
    """The Postgres backend of the sweeper that leads."""
    rows = arena.rows(HOLDER, LEADER)
    return rows[0][0] if rows else None


async def test_the_standby_takes_over_from_a_killed_sweeper(arena: Arena, scene: Scene) -> None:
    await asyncio.to_thread(arena.wait_until, lambda: leader(arena), "a leader")
    arena.stack.start("sweeper", "sweeper.standby")
    arena.upstream.reply({"words": 100, "every_s": 0.03})
    questions = await scene.ask_many(4)
    for question in questions:
        await question.showing("10 ")
    before = leader(arena)
    scene.broken()
    arena.kill("sweeper", "llm.1")
    await asyncio.to_thread(arena.wait_until, lambda: leader(arena) not in (None, before), "a new leader")
    record("F25", "kill -9 of the sweeper: to a new leader", time.monotonic() - scene.faults[0])
    for question in questions:
        assert (await question.ended()).text == words(100)
    report = await scene.judge()
    record("F25", "a worker killed with it: to first new packet", report.figures["takeover"])
