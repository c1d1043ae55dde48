"""Redis replies, but refuses to write: during a failover it is a replica for a while, or its memory is full."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator

import pytest
import redis

from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

REFUSAL_S = 6.0
CELERY_WORKERS = ("llm.1", "llm.2", "compression", "ingest")


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    own_cluster.restore()
    for name in CELERY_WORKERS:
        if name not in own_cluster.stack.processes:
            own_cluster.stack.start(name)
    own_cluster.wait_for_workers(len(CELERY_WORKERS))
    return own_cluster


@contextlib.contextmanager
def replica(client: redis.Redis) -> Iterator[None]:
    """Of a server that does not exist: it keeps its data."""
    client.execute_command("REPLICAOF", "127.0.0.1", "1")
    try:
        yield
    finally:
        client.execute_command("REPLICAOF", "NO", "ONE")


@contextlib.contextmanager
def full(client: redis.Redis) -> Iterator[None]:
    before = client.config_get("maxmemory*")
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", 1)
    try:
        yield
    finally:
        for name in ("maxmemory", "maxmemory-policy"):
            client.config_set(name, before[name])


@pytest.mark.parametrize("condition", [replica, full])
async def test_workers_and_answers_survive_a_redis_that_refuses_to_write(
    cluster: Cluster,
    scenario: Scenario,
    condition: Callable[[redis.Redis], contextlib.AbstractContextManager[None]],
) -> None:
    processes = dict(cluster.stack.processes)
    cluster.upstream.reply(
        {"words": 50, "every_s": 0.01}, {"wait": "the refusal"}, {"words": 50, "every_s": 0.01}
    )
    questions = await scenario.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    before = await scenario.client.new_session()
    scenario.record_fault()
    with cluster.redis() as client, condition(client):
        cluster.upstream.release("the refusal")
        refused = 0
        until = asyncio.get_running_loop().time() + REFUSAL_S
        while asyncio.get_running_loop().time() < until:
            answer = await scenario.client.http.post(
                f"/api/sessions/{before['id']}/turns/", json={"text": scenario.make_unique("Meanwhile")}
            )
            assert (answer.status_code, answer.json()["code"]) == (503, "stream_unavailable")
            refused += 1
            await asyncio.sleep(0.2)
    assert refused
    assert [message["role"] for message in await scenario.client.branch(before)] == []
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(50) + words(50), "finished")
    await asyncio.to_thread(cluster.wait_for_workers, len(CELERY_WORKERS))
    for question in await scenario.ask_many(10):
        assert (await question.ended()).stop_reason == "finished"
    await scenario.check()
    assert {name: process.pid for name, process in cluster.stack.processes.items()} == {
        name: process.pid for name, process in processes.items()
    }
    assert [name for name, process in processes.items() if process.poll() is not None] == []
