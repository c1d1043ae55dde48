"""Redis crashes, forgets everything, is away: F11, F12, F13."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.scene import Asked, Scene, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]
OUTAGE_S = 5.0


@pytest.fixture(scope="module")
def own_arena() -> Iterator[Arena]:
    with Arena.running(durable_valkey=True) as arena:
        yield arena


@pytest.fixture
def arena(own_arena: Arena) -> Arena:
    own_arena.set_stage()
    return own_arena


async def begun(arena: Arena, scene: Scene, after: int) -> list[Asked]:
    """Ten answers that go on for `after` words more."""
    arena.upstream.reply({"words": 50, "every_s": 0.01}, {"words": after, "every_s": 0.03})
    questions = await scene.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    return questions


async def test_streams_go_on_after_a_crash_of_redis(arena: Arena, scene: Scene) -> None:
    questions = await begun(arena, scene, 300)
    processes = {name: process.pid for name, process in arena.stack.processes.items()}
    services = arena.services
    scene.broken()
    await asyncio.to_thread(services.end, services.valkey)
    await asyncio.sleep(OUTAGE_S)
    await asyncio.to_thread(services.launch, services.valkey)
    await asyncio.to_thread(services.wait_for, services.valkey)
    back_at = time.monotonic()
    for question in questions:
        assert (await question.ended()).text == words(50) + words(300)
    report = await scene.judge()
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 10)
    again = [
        min(at for log in q.watcher.log.sockets for at, f in log.frames if at > back_at) for q in questions
    ]
    record("F11", f"Redis back after {OUTAGE_S:.0f} s: to the next packet", [at - back_at for at in again])
    asked_at = time.monotonic()
    question = await scene.ask("And now?")
    await question.showing("0 ")
    record("F11", "a question after it: asked to first word", time.monotonic() - asked_at)
    assert (await question.ended(90)).stop_reason == "finished"
    await scene.judge()
    assert {name: process.pid for name, process in arena.stack.processes.items()} == processes


async def test_everything_ends_though_redis_forgot_everything(arena: Arena, scene: Scene) -> None:
    questions = await begun(arena, scene, 100)
    scene.broken()
    with arena.redis() as client:
        client.flushall()
    for question in questions:
        assert (await question.ended()).text == words(50) + words(100)
    report = await scene.judge()
    assert report.figures["failures"] == 0
    record("F12", "FLUSHALL: longest silence of a client", report.figures["longest silence"])
    assert (await (await scene.ask("And now?")).ended()).stop_reason == "finished"
    await scene.judge()


async def test_everything_ends_though_redis_forgot_the_last_words(arena: Arena, scene: Scene) -> None:
    arena.upstream.reply({"words": 50, "every_s": 0.01}, {"wait": "the loss"})
    questions = await scene.ask_many(5)
    for question in questions:
        await question.showing("49 ")
    with arena.redis() as client:
        client.flushall()
    arena.upstream.release("the loss")
    for question in questions:
        assert (await question.ended()).text == words(50)
    await scene.judge()


async def test_a_send_without_redis_is_refused_soon_and_leaves_nothing(arena: Arena, scene: Scene) -> None:
    before = await scene.ask("Before")
    await before.ended()
    services = arena.services
    await asyncio.to_thread(services.end, services.valkey)
    for _ in range(5):
        asked_at = time.monotonic()
        answer = await scene.client.http.post(
            f"/api/sessions/{before.session['id']}/turns/", json={"text": scene.unlike("While away")}
        )
        record("F13", "a send without Redis: to the refusal", time.monotonic() - asked_at)
        assert (answer.status_code, answer.json()["code"]) == (503, "stream_unavailable")
    await asyncio.to_thread(services.launch, services.valkey)
    await asyncio.to_thread(services.wait_for, services.valkey)
    assert [message["role"] for message in await scene.client.branch(before.session)] == ["user", "assistant"]
    assert (await (await scene.ask("After")).ended(90)).stop_reason == "finished"
    await scene.judge()
