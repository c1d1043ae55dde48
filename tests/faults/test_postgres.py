"""Postgres restarts in the middle: F14."""

import asyncio
import signal
import time
from collections.abc import Iterator

import pytest

from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.scene import Scene, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def own_arena() -> Iterator[Arena]:
    with Arena.running() as arena:
        yield arena


@pytest.fixture
def arena(own_arena: Arena) -> Arena:
    own_arena.set_stage()
    return own_arena


@pytest.mark.parametrize(
    ("after", "outage_s"),
    [
        pytest.param(200, 0, id="answers go on after it"),
        pytest.param(30, 3, id="answers end while it is away"),
    ],
)
async def test_answers_are_saved_though_postgres_restarted(
    arena: Arena, scene: Scene, after: int, outage_s: float
) -> None:
    arena.upstream.reply({"words": 50, "every_s": 0.01}, {"words": after, "every_s": 0.03})
    questions = await scene.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    services = arena.services
    scene.broken()
    await asyncio.to_thread(services.end, services.postgres, signal.SIGINT)
    await asyncio.sleep(outage_s)
    await asyncio.to_thread(services.launch, services.postgres)
    await asyncio.to_thread(services.wait_for, services.postgres)
    back_at = time.monotonic()
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(50) + words(after), "finished")
    if outage_s:
        record("F14", "Postgres back: to the end of the last answer", time.monotonic() - back_at)
    report = await scene.judge()
    # Nobody was dead: locks that went with the connections say nothing.
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 10)
    record("F14", "Postgres restarted: longest silence of a client", report.figures["longest silence"])
    assert (await (await scene.ask("And now?")).ended()).stop_reason == "finished"
    await scene.judge()
