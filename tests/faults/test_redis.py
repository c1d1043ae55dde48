"""F11, F12, F13: Redis crashes, loses its data or is unavailable."""

import asyncio
import time

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]
OUTAGE_S = 5.0


@pytest.fixture
def cluster(durable_cluster: Cluster) -> Cluster:
    durable_cluster.restore()
    return durable_cluster


async def begun(cluster: Cluster, scenario: Scenario, after: int) -> list[WatchedTurn]:
    """Start ten answers that stream `after` more words."""
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"words": after, "every_s": 0.03})
    questions = await scenario.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    return questions


@pytest.mark.core
async def test_streams_go_on_after_a_crash_of_redis(cluster: Cluster, scenario: Scenario) -> None:
    questions = await begun(cluster, scenario, 300)
    processes = {name: process.pid for name, process in cluster.stack.processes.items()}
    services = cluster.services
    scenario.record_fault()
    await asyncio.to_thread(services.end, services.valkey)
    await asyncio.sleep(OUTAGE_S)
    await asyncio.to_thread(services.launch, services.valkey)
    await asyncio.to_thread(services.wait_for, services.valkey)
    back_at = time.monotonic()
    for question in questions:
        assert (await question.ended()).text == words(50) + words(300)
    report = await scenario.check()
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 10)
    again = [
        min(at for log in q.watcher.log.sockets for at, f in log.frames if at > back_at) for q in questions
    ]
    record("F11", f"Redis back after {OUTAGE_S:.0f} s: to the next packet", [at - back_at for at in again])
    asked_at = time.monotonic()
    question = await scenario.ask("And now?")
    await question.showing("0 ")
    record("F11", "a question after it: asked to first word", time.monotonic() - asked_at)
    assert (await question.ended(90)).stop_reason == "finished"
    await scenario.check()
    assert {name: process.pid for name, process in cluster.stack.processes.items()} == processes


@pytest.mark.core
async def test_everything_ends_though_redis_forgot_everything(cluster: Cluster, scenario: Scenario) -> None:
    questions = await begun(cluster, scenario, 100)
    scenario.record_fault()
    with cluster.redis() as client:
        client.flushall()
    for question in questions:
        assert (await question.ended()).text == words(50) + words(100)
    report = await scenario.check()
    assert report.figures["failures"] == 0
    record("F12", "FLUSHALL: longest silence of a client", report.figures["longest silence"])
    assert (await (await scenario.ask("And now?")).ended()).stop_reason == "finished"
    await scenario.check()


async def test_everything_ends_though_redis_forgot_the_last_words(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"wait": "the loss"})
    questions = await scenario.ask_many(5)
    for question in questions:
        await question.showing("49 ")
    with cluster.redis() as client:
        client.flushall()
    cluster.upstream.release("the loss")
    for question in questions:
        assert (await question.ended()).text == words(50)
    await scenario.check()


@pytest.mark.core
async def test_a_send_without_redis_is_refused_soon_and_leaves_nothing(
    cluster: Cluster, scenario: Scenario
) -> None:
    before = await scenario.ask("Before")
    await before.ended()
    services = cluster.services
    await asyncio.to_thread(services.end, services.valkey)
    for _ in range(5):
        asked_at = time.monotonic()
        answer = await scenario.client.http.post(
            f"/api/sessions/{before.session['id']}/turns/", json={"text": scenario.make_unique("While away")}
        )
        record("F13", "a send without Redis: to the refusal", time.monotonic() - asked_at)
        assert (answer.status_code, answer.json()["code"]) == (503, "stream_unavailable")
    await asyncio.to_thread(services.launch, services.valkey)
    await asyncio.to_thread(services.wait_for, services.valkey)
    assert [message["role"] for message in await scenario.client.branch(before.session)] == [
        "user",
        "assistant",
    ]
    assert (await (await scenario.ask("After")).ended(90)).stop_reason == "finished"
    await scenario.check()
