"""F18, F19: slow readers and lost publications."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import httpx2
import psutil
import pytest

from tests.e2e.client import Client
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.proxy import TO_CLIENT, Proxy
from tests.faults.scenario import Scenario, WatchedTurn, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.fixture
def lossy(cluster: Cluster) -> Iterator[Proxy]:
    """A proxy between the web process and Valkey."""
    with Proxy.before(cluster.redis_url) as proxy:
        cluster.kill("web")
        cluster.stack.start("web", "web", {"REDIS_URL": proxy.url, "CELERY_BROKER_URL": cluster.redis_url})
        cluster.stack.wait_until_ready()
        yield proxy
        cluster.kill("web")


@pytest.fixture
async def lossy_scenario(lossy: Proxy, cluster: Cluster) -> AsyncIterator[Scenario]:
    async with Scenario.of(cluster) as scenario:
        yield scenario


async def lost(lossy: Proxy, cluster: Cluster, text: bytes, times: int = 1) -> None:
    """Wait until this many publications that contain `text` were discarded."""
    await asyncio.to_thread(
        cluster.wait_until, lambda: lossy.has_discarded(text, TO_CLIENT, times), f"{text!r} is lost"
    )


@pytest.mark.core
async def test_a_lost_publication_is_healed_by_the_next(
    cluster: Cluster, lossy: Proxy, lossy_scenario: Scenario
) -> None:
    cluster.upstream.reply(
        {"words": 20}, {"wait": "the loss"}, {"text": "lost "}, {"wait": "the end"}, {"text": "not lost"}
    )
    question = await lossy_scenario.ask()
    await question.showing("19 ")
    lossy.discard(TO_CLIENT)
    cluster.upstream.release("the loss")
    await lost(lossy, cluster, b"lost ")
    lossy.heal()
    cluster.upstream.release("the end")
    assert (await question.ended()).text == words(20) + "lost not lost"
    report = await lossy_scenario.check()
    assert (report.figures["resets"], report.figures["snapshots"]) == (0, 0)


@pytest.mark.core
async def test_a_lost_last_publication_is_found_by_itself(
    cluster: Cluster, lossy: Proxy, lossy_scenario: Scenario
) -> None:
    cluster.upstream.reply({"words": 20}, {"wait": "the loss"}, {"text": "lost"})
    questions = await lossy_scenario.ask_many(3)
    for question in questions:
        await question.showing("19 ")
    lossy.discard(TO_CLIENT)
    lossy_scenario.record_fault()
    cluster.upstream.release("the loss")
    await lost(lossy, cluster, b'"type":"stop"', times=3)
    # The turns' ends are publications too.
    await lost(lossy, cluster, b'"type":"overall_stop"', times=3)
    lossy.heal()
    for question in questions:
        assert (await question.ended()).text == words(20) + "lost"
        record("F19", "the last publication lost: to its packet", time.monotonic() - lossy_scenario.faults[0])
    await lossy_scenario.check()


async def test_a_slow_reader_is_closed_and_resumes_while_others_notice_nothing(
    cluster: Cluster, scenario: Scenario
) -> None:
    # More than fits into the socket buffers of a reader that does not read.
    piece, pieces = "x" * 8000, 800
    flood = [{"text": piece}, {"pause_s": 0.01}] * pieces
    cluster.upstream.reply({"wait": "all"}, *flood, contains="Flood")
    with Proxy.before(cluster.stack.base_url) as proxy:
        question = await scenario.ask("Flood", models=["alpha", "beta", "gamma"])
        slow_client = Client(f"http://127.0.0.1:{proxy.port}", scenario.client.token, scenario.client.http)
        slow = await scenario.watch(question.session["id"], slow_client)
        other = await scenario.ask("Another")
        await other.ended()
        closed_before = slow_closes(cluster)
        web = psutil.Process(cluster.stack.processes["web"].pid)
        before_bytes = web.memory_info().rss
        proxy.throttle(1000, TO_CLIENT)
        cluster.upstream.release("all")
        record("F18", "beside a slow reader: another socket's ping", await pings_during(question, other))
        grown_bytes = web.memory_info().rss - before_bytes
        proxy.heal()
        for run in question.turn["runs"]:
            for watcher in (slow, question.watcher):
                assert len((await watcher.ended(run["id"])).text) == len(piece) * pieces
        await scenario.check()
    # 4408, or 1006 if the client does not read the close frame within 10 s.
    assert slow.close_codes[0] in (4408, 1006)
    await asyncio.to_thread(cluster.wait_until, lambda: slow_closes(cluster) > closed_before, "it is counted")
    assert other.watcher.close_codes == []
    # Far less than the unread data.
    assert grown_bytes < 200 * 1024 * 1024


async def pings_during(question: WatchedTurn, other: WatchedTurn) -> list[float]:
    """Latencies of the other socket's pings until all runs of the question have ended."""
    delays_s = []
    while not all(run["id"] in stopped(question) for run in question.turn["runs"]):
        asked_at = time.monotonic()
        await other.watcher.socket.ask("pong", type="ping")
        delays_s.append(time.monotonic() - asked_at)
        await asyncio.sleep(0.01)
    return delays_s


def slow_closes(cluster: Cluster) -> float:
    """The number of sockets closed for being slow, from /metrics."""
    told = httpx2.get(f"{cluster.stack.base_url}/metrics", timeout=30, trust_env=False).text
    return float(told.partition("\nturnwire_slow_client_closes_total ")[2].split("\n")[0])


def stopped(question: WatchedTurn) -> set[str]:
    return {run for run, view in question.watcher.views.items() if view.stop_reason}
