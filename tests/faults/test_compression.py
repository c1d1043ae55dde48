"""F27: compressions are killed, paused, delivered twice or raced by new messages; at most one summary is stored."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import kombu
import pytest

from chat.infrastructure.fault_points import Point
from chat.protocol.tasks import COMPRESS_BRANCH, COMPRESSION_QUEUE
from tests.e2e.client import Frame
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario
from tests.faults.test_delivery import deliver
from tests.faults.watcher import Watcher

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

MODEL = """
from chat.models import ModelConfig
ModelConfig.objects.get_or_create(name="small", defaults=ModelConfig.fields_for("small", 3000))
"""
SUMMARY = "They counted turn by turn, from 1 over 2, 3, 4 and 5 to the last number that was wanted, and left out none."
FILLER = " word" * 200
POINTS: tuple[Point, ...] = (
    "after_compression_claim",
    "before_summary_asked",
    "before_summary_stored",
    "after_summary_stored",
)


@dataclass
class Talk:
    """A conversation that is long enough to be compressed."""

    scenario: Scenario
    session: Frame
    watcher: Watcher

    async def turn(self) -> None:
        """Send a turn and wait for its answer, which must not depend on the compression."""
        scenario = self.scenario
        turn = await scenario.client.ask(
            self.session, scenario.make_unique("Count") + FILLER, models=["small"]
        )
        scenario.accepted.append(turn | {"session": self.session["id"]})
        run = turn["runs"][0]["id"]
        self.watcher.expect(run)
        assert (await self.watcher.ended(run)).stop_reason == "finished"

    async def grow(self) -> str:
        """Send turns until a compression is requested; returns its id."""
        while not (asked := self.compressions("queued", "running", "done")):
            await self.turn()
            await asyncio.sleep(0.1)
        return str(asked[0])

    def compressions(self, *states: str) -> list[Any]:
        query = (
            "SELECT id FROM chat_compression WHERE session_id = %s AND status = ANY(%s) ORDER BY created_at"
        )
        return [pk for (pk,) in self.scenario.cluster.rows(query, self.session["id"], list(states))]

    def summaries(self) -> list[tuple[Any, ...]]:
        query = "SELECT text FROM chat_chatmessage WHERE session_id = %s AND role = 'summary'"
        return self.scenario.cluster.rows(query, self.session["id"])

    async def compressed(self) -> None:
        cluster = self.scenario.cluster
        await asyncio.to_thread(cluster.wait_until, lambda: self.compressions("done"), "the summary", 120)

    async def judged(self) -> None:
        """Assert that there is one summary and that the next turn uses it."""
        await self.compressed()
        assert self.summaries() == [(SUMMARY,)]
        await self.turn()
        contents = [message["content"] for message in self.scenario.upstream.requests[-1].messages]
        assert SUMMARY in contents[1]


async def new_talk(scenario: Scenario) -> Talk:
    session = await scenario.client.new_session()
    scenario.sessions.append(session["id"])
    return Talk(scenario, session, await scenario.watch(session["id"]))


@pytest.fixture
async def talk(cluster: Cluster, scenario: Scenario) -> Talk:
    cluster.stack.manage("shell", "-v", "0", "-c", MODEL)
    cluster.upstream.reply({"text": "Counted." + FILLER}, model="small")
    cluster.upstream.reply({"text": SUMMARY}, stream=False)
    return await new_talk(scenario)


async def test_a_process_killed_at_any_point_leaves_one_summary(
    cluster: Cluster, scenario: Scenario, talk: Talk
) -> None:
    talks = [talk, *[await new_talk(scenario) for _ in POINTS[1:]]]
    for one, point in zip(talks, POINTS, strict=True):
        name = f"compression.{point}"
        cluster.stack.start("compression", name, {"FAULT_POINTS": f"{point}=kill"})
        await one.grow()
        await asyncio.to_thread(cluster.wait_for_exit, name)
        await one.turn()
    killed_at = time.monotonic()
    cluster.stack.start("compression", "compression.1")
    for one in talks:
        await one.judged()
        # Seen by itself, after a lease of 30 s; the last of them was stored before its process died.
    record("F27", "last kill to the last summary", time.monotonic() - killed_at)
    await scenario.check()


async def test_a_frozen_process_that_comes_back_writes_no_second_summary(
    cluster: Cluster, scenario: Scenario, talk: Talk
) -> None:
    cluster.stack.start("compression", "compression.frozen", {"FAULT_POINTS": "before_summary_stored=stop"})
    await talk.grow()
    await asyncio.to_thread(cluster.upstream.wait_for, lambda: cluster.upstream.asides)
    cluster.stack.start("compression", "compression.1")
    await talk.compressed()
    cluster.resume("compression.frozen")
    await talk.judged()
    assert len(talk.compressions("done")) == 1
    assert talk.compressions("queued", "running") == []
    await scenario.check()


@pytest.mark.core
async def test_a_message_delivered_ten_times_makes_one_summary(
    cluster: Cluster, scenario: Scenario, talk: Talk
) -> None:
    compression = await talk.grow()
    deliver(cluster, {"compression_id": compression}, COMPRESS_BRANCH, times=10, queue=COMPRESSION_QUEUE)
    cluster.stack.start("compression", "compression.1")
    cluster.stack.start("compression", "compression.2")
    await talk.judged()
    assert len(cluster.upstream.asides) == 1
    await scenario.check()


async def test_turns_go_on_while_nobody_compresses_and_a_lost_message_is_sent_again(
    cluster: Cluster, scenario: Scenario, talk: Talk
) -> None:
    await talk.grow()
    for _ in range(4):
        await talk.turn()
    with kombu.Connection(cluster.redis_url) as broker, broker.SimpleQueue(COMPRESSION_QUEUE) as queue:
        queue.clear()
    cluster.stack.start("compression", "compression.1")
    await talk.judged()
    await scenario.check()
