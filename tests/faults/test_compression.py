"""Compressions killed, frozen, doubled, raced by new messages: F27. One new summary or none, and history as it was."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import kombu
import pytest

from chat.infrastructure.fault_points import Point
from chat.protocol.tasks import COMPRESS_BRANCH, COMPRESSION_QUEUE
from tests.e2e.client import Frame
from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.scene import Scene
from tests.faults.test_delivery import deliver
from tests.faults.watcher import Watcher

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

MODEL = """
from chat.models import ModelConfig
ModelConfig.objects.get_or_create(name="small", defaults=ModelConfig.fields_for("small", 3000))
"""
SUMMARY = "They counted."
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

    scene: Scene
    session: Frame
    watcher: Watcher

    async def turn(self) -> None:
        """Asked and answered, whatever becomes of the compression."""
        scene = self.scene
        turn = await scene.client.ask(self.session, scene.unlike("Count") + FILLER, models=["small"])
        scene.accepted.append(turn | {"session": self.session["id"]})
        run = turn["runs"][0]["id"]
        self.watcher.expect(run)
        assert (await self.watcher.ended(run)).stop_reason == "finished"

    async def grow(self) -> str:
        """Until a compression is asked for; its id."""
        while not (asked := self.compressions("queued", "running", "done")):
            await self.turn()
            await asyncio.sleep(0.1)
        return str(asked[0])

    def compressions(self, *states: str) -> list[Any]:
        query = (
            "SELECT id FROM chat_compression WHERE session_id = %s AND status = ANY(%s) ORDER BY created_at"
        )
        return [pk for (pk,) in self.scene.arena.rows(query, self.session["id"], list(states))]

    def summaries(self) -> list[tuple[Any, ...]]:
        query = "SELECT text FROM chat_chatmessage WHERE session_id = %s AND role = 'summary'"
        return self.scene.arena.rows(query, self.session["id"])

    async def compressed(self) -> None:
        arena = self.scene.arena
        await asyncio.to_thread(arena.wait_until, lambda: self.compressions("done"), "the summary", 120)

    async def judged(self) -> None:
        """One summary, which the next turn uses."""
        await self.compressed()
        assert self.summaries() == [(SUMMARY,)]
        await self.turn()
        contents = [message["content"] for message in self.scene.upstream.requests[-1].messages]
        assert SUMMARY in contents[1]


async def new_talk(scene: Scene) -> Talk:
    session = await scene.client.new_session()
    scene.sessions.append(session["id"])
    return Talk(scene, session, await scene.watch(session["id"]))


@pytest.fixture
async def talk(arena: Arena, scene: Scene) -> Talk:
    arena.stack.manage("shell", "-v", "0", "-c", MODEL)
    arena.upstream.reply({"text": "Counted." + FILLER}, model="small")
    arena.upstream.reply({"text": SUMMARY}, stream=False)
    return await new_talk(scene)


async def test_a_process_killed_at_any_point_leaves_one_summary(
    arena: Arena, scene: Scene, talk: Talk
) -> None:
    talks = [talk, *[await new_talk(scene) for _ in POINTS[1:]]]
    for one, point in zip(talks, POINTS, strict=True):
        name = f"compression.{point}"
        arena.stack.start("compression", name, {"FAULT_POINTS": f"{point}=kill"})
        await one.grow()
        await asyncio.to_thread(arena.wait_for_end_of, name)
        await one.turn()
    killed_at = time.monotonic()
    arena.stack.start("compression", "compression.1")
    for one in talks:
        await one.judged()
        # Seen by itself, after a lease of 30 s; the last of them was stored before its process died.
    record("F27", "last kill to the last summary", time.monotonic() - killed_at)
    await scene.judge()


async def test_a_frozen_process_that_comes_back_writes_no_second_summary(
    arena: Arena, scene: Scene, talk: Talk
) -> None:
    arena.stack.start("compression", "compression.frozen", {"FAULT_POINTS": "before_summary_stored=stop"})
    await talk.grow()
    await asyncio.to_thread(arena.upstream.wait_for, lambda: arena.upstream.asides)
    arena.stack.start("compression", "compression.1")
    await talk.compressed()
    arena.resume("compression.frozen")
    await talk.judged()
    assert len(talk.compressions("done")) == 1
    assert talk.compressions("queued", "running") == []
    await scene.judge()


async def test_a_message_delivered_ten_times_makes_one_summary(
    arena: Arena, scene: Scene, talk: Talk
) -> None:
    compression = await talk.grow()
    deliver(arena, {"compression_id": compression}, COMPRESS_BRANCH, times=10, queue=COMPRESSION_QUEUE)
    arena.stack.start("compression", "compression.1")
    arena.stack.start("compression", "compression.2")
    await talk.judged()
    assert len(arena.upstream.asides) == 1
    await scene.judge()


async def test_turns_go_on_while_nobody_compresses_and_a_lost_message_is_sent_again(
    arena: Arena, scene: Scene, talk: Talk
) -> None:
    await talk.grow()
    for _ in range(4):
        await talk.turn()
    with kombu.Connection(arena.redis_url) as broker, broker.SimpleQueue(COMPRESSION_QUEUE) as queue:
        queue.clear()
    arena.stack.start("compression", "compression.1")
    await talk.judged()
    await scene.judge()
