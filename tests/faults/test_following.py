"""Publications that are lost, and readers that are slow: F18, F19."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import httpx2
import psutil
import pytest

from tests.e2e.client import Client
from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.proxy import TO_CLIENT, Proxy
from tests.faults.scene import Asked, Scene, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.fixture
def lossy(arena: Arena) -> Iterator[Proxy]:
    """Before the Valkey of the web process."""
    with Proxy.before(arena.redis_url) as proxy:
        arena.kill("web")
        arena.stack.start("web", "web", {"REDIS_URL": proxy.url, "CELERY_BROKER_URL": arena.redis_url})
        arena.stack.wait_until_ready()
        yield proxy
        arena.kill("web")


@pytest.fixture
async def lossy_scene(lossy: Proxy, arena: Arena) -> AsyncIterator[Scene]:
    async with Scene.of(arena) as scene:
        yield scene


async def lost(lossy: Proxy, arena: Arena, text: bytes, times: int = 1) -> None:
    """Until so many publications with it have been thrown away."""
    await asyncio.to_thread(
        arena.wait_until, lambda: lossy.has_discarded(text, TO_CLIENT, times), f"{text!r} is lost"
    )


async def test_a_lost_publication_is_healed_by_the_next(
    arena: Arena, lossy: Proxy, lossy_scene: Scene
) -> None:
    arena.upstream.reply(
        {"words": 20}, {"wait": "the loss"}, {"text": "lost "}, {"wait": "the end"}, {"text": "not lost"}
    )
    question = await lossy_scene.ask()
    await question.showing("19 ")
    lossy.discard(TO_CLIENT)
    arena.upstream.release("the loss")
    await lost(lossy, arena, b"lost ")
    lossy.heal()
    arena.upstream.release("the end")
    assert (await question.ended()).text == words(20) + "lost not lost"
    report = await lossy_scene.judge()
    assert (report.figures["resets"], report.figures["snapshots"]) == (0, 0)


async def test_a_lost_last_publication_is_found_by_itself(
    arena: Arena, lossy: Proxy, lossy_scene: Scene
) -> None:
    arena.upstream.reply({"words": 20}, {"wait": "the loss"}, {"text": "lost"})
    questions = await lossy_scene.ask_many(3)
    for question in questions:
        await question.showing("19 ")
    lossy.discard(TO_CLIENT)
    lossy_scene.broken()
    arena.upstream.release("the loss")
    await lost(lossy, arena, b'"type":"stop"', times=3)
    # The turns' ends are publications too.
    await lost(lossy, arena, b'"type":"overall_stop"', times=3)
    lossy.heal()
    for question in questions:
        assert (await question.ended()).text == words(20) + "lost"
        record("F19", "the last publication lost: to its packet", time.monotonic() - lossy_scene.faults[0])
    await lossy_scene.judge()


async def test_a_slow_reader_is_closed_and_resumes_while_others_notice_nothing(
    arena: Arena, scene: Scene
) -> None:
    # More than the kernels' buffers take on behalf of a reader that does not read.
    piece, pieces = "x" * 8000, 800
    flood = [{"text": piece}, {"pause_s": 0.01}] * pieces
    arena.upstream.reply({"wait": "all"}, *flood, contains="Flood")
    with Proxy.before(arena.stack.base_url) as proxy:
        question = await scene.ask("Flood", models=["alpha", "beta", "gamma"])
        slow_client = Client(f"http://127.0.0.1:{proxy.port}", scene.client.token, scene.client.http)
        slow = await scene.watch(question.session["id"], slow_client)
        other = await scene.ask("Another")
        await other.ended()
        closed_before = slow_closes(arena)
        web = psutil.Process(arena.stack.processes["web"].pid)
        before_bytes = web.memory_info().rss
        proxy.throttle(1000, TO_CLIENT)
        arena.upstream.release("all")
        record("F18", "beside a slow reader: another socket's ping", await pings_during(question, other))
        grown_bytes = web.memory_info().rss - before_bytes
        proxy.heal()
        for run in question.turn["runs"]:
            for watcher in (slow, question.watcher):
                assert len((await watcher.ended(run["id"])).text) == len(piece) * pieces
        await scene.judge()
    # Who does not read why within 10 s is cut off.
    assert slow.close_codes[0] in (4408, 1006)
    await asyncio.to_thread(arena.wait_until, lambda: slow_closes(arena) > closed_before, "it is counted")
    assert other.watcher.close_codes == []
    # Nothing like what the slow one did not read.
    assert grown_bytes < 200 * 1024 * 1024


async def pings_during(question: Asked, other: Asked) -> list[float]:
    """How long the other socket waited for each answer until all runs of the question had ended."""
    delays_s = []
    while not all(run["id"] in stopped(question) for run in question.turn["runs"]):
        asked_at = time.monotonic()
        await other.watcher.socket.ask("pong", type="ping")
        delays_s.append(time.monotonic() - asked_at)
        await asyncio.sleep(0.01)
    return delays_s


def slow_closes(arena: Arena) -> float:
    """How many sockets were closed for being slow, as operators are told."""
    told = httpx2.get(f"{arena.stack.base_url}/metrics", timeout=30, trust_env=False).text
    return float(told.partition("\nturnwire_slow_client_closes_total ")[2].split("\n")[0])


def stopped(question: Asked) -> set[str]:
    return {run for run, view in question.watcher.views.items() if view.stop_reason}
