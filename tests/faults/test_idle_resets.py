"""The network resets connections to Redis while nothing is sent over them: nobody is mute afterwards."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.faults.cluster import Cluster
from tests.faults.proxy import Proxy
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240), pytest.mark.usefixtures("without_workers")]

PARTITION_S = 15.0
QUESTIONS = 20


@pytest.fixture
def network(cluster: Cluster) -> Iterator[Proxy]:
    """Between Valkey and both web and the only worker."""
    with Proxy.before(cluster.redis_url) as proxy:
        cluster.kill("web")
        cluster.stack.start("web", "web", {"REDIS_URL": proxy.url})
        cluster.worker("llm.behind", REDIS_URL=proxy.url)
        cluster.stack.wait_until_ready()
        cluster.wait_for_workers(1)
        yield proxy
        cluster.kill("web", "llm.behind")


@pytest.fixture
async def chats(network: Proxy, cluster: Cluster) -> AsyncIterator[Scenario]:
    async with Scenario.of(cluster) as scenario:
        yield scenario
    print(cluster.logs())


async def all_stream(chats: Scenario) -> None:
    """Every answer is shown while it is written, by its first attempt."""
    chats.upstream.reply({"words": 20, "every_s": 0.01}, {"wait": "seen"}, {"words": 20})
    questions = await chats.ask_many(QUESTIONS)
    for question in questions:
        await question.showing("19 ")
    chats.upstream.release("seen")
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(20) + words(20), "finished")
    report = await chats.check()
    assert report.figures["failures"] == 0


async def test_answers_stream_after_idle_connections_were_reset(network: Proxy, chats: Scenario) -> None:
    await all_stream(chats)
    for _ in range(2):
        chats.record_fault()
        assert await asyncio.to_thread(network.reset)
        chats.upstream.reset()
        await all_stream(chats)


async def test_answers_stream_after_a_partition_that_ended_in_resets(network: Proxy, chats: Scenario) -> None:
    await all_stream(chats)
    chats.record_fault()
    network.blackhole()
    await asyncio.sleep(PARTITION_S)
    await asyncio.to_thread(network.reset)
    network.heal()
    await asyncio.to_thread(chats.cluster.stack.wait_until_ready)
    chats.upstream.reset()
    await all_stream(chats)
