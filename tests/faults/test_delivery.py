"""F2, F9, F10, F28: task messages are lost, duplicated, late or invalid."""

import asyncio
import time
from typing import Any
from uuid import uuid4

import kombu
import pytest

from chat.protocol.tasks import DEFAULT_QUEUE, RUN_TURN
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


def deliver(
    cluster: Cluster,
    arguments: dict[str, Any],
    task: str = RUN_TURN,
    times: int = 1,
    queue: str = DEFAULT_QUEUE,
) -> None:
    """Put task messages on the queue, as Celery writes them."""
    with kombu.Connection(cluster.redis_url) as broker, broker.SimpleQueue(queue) as simple:
        for _ in range(times):
            name = str(uuid4())
            headers = {
                "task": task, "id": name, "root_id": name, "parent_id": None, "lang": "py", "argsrepr": "", "kwargsrepr": "",
            }  # fmt: skip
            simple.put([[], arguments, {}], serializer="json", headers=headers)


def waiting(cluster: Cluster) -> int:
    with cluster.redis() as client:
        return int(client.llen(DEFAULT_QUEUE))  # type: ignore[arg-type]


def popped(cluster: Cluster) -> bool:
    with cluster.redis() as client:
        return client.rpop(DEFAULT_QUEUE) is not None


@pytest.mark.core
async def test_a_message_lost_between_queue_and_acknowledgement_is_sent_again(
    cluster: Cluster, scenario: Scenario
) -> None:
    # The message is popped, as by a worker that is killed before it acknowledges it.
    cluster.kill("llm.1", "llm.2")
    question = await scenario.ask()
    asked_at = time.monotonic()
    await asyncio.to_thread(cluster.wait_until, lambda: popped(cluster), "the message is popped")
    scenario.record_fault()
    cluster.worker("llm.1")
    await question.showing()
    record("F2", "asked to first packet", time.monotonic() - asked_at)
    assert (await question.ended()).stop_reason == "finished"
    await scenario.check()


@pytest.mark.core
async def test_a_message_delivered_five_times_at_once_has_one_executor(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.upstream.reply({"words": 100, "every_s": 0.01})
    cluster.pause("llm.1", "llm.2")
    question = await scenario.ask()
    deliver(cluster, {"run_id": question.run}, times=5)
    cluster.resume("llm.1", "llm.2")
    assert (await question.ended()).attempt == 1
    await asyncio.to_thread(cluster.wait_until, lambda: waiting(cluster) == 0, "all are delivered")
    await scenario.check()
    assert len(cluster.upstream.requests) == 1


@pytest.mark.core
async def test_a_delivery_after_the_end_or_after_a_stop_does_nothing(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.upstream.reply({"hang": True}, contains="Stopped")
    answered, stopped = await scenario.ask("Answered"), await scenario.ask("Stopped")
    await asyncio.to_thread(cluster.upstream.wait_for_requests, 2)
    await scenario.stop(stopped.run)
    await scenario.settle()
    for question in (answered, stopped):
        deliver(cluster, {"run_id": question.run}, times=3)
    await asyncio.to_thread(cluster.wait_until, lambda: waiting(cluster) == 0, "all are delivered")
    # A turn sent later over the same queue has ended, so the earlier messages have been processed.
    assert (await (await scenario.ask("After them")).ended()).stop_reason == "finished"
    await scenario.check()
    assert len(cluster.upstream.requests) == 3
    attempts = cluster.rows(
        "SELECT attempt FROM chat_run WHERE id = ANY(%s::uuid[])", [answered.run, stopped.run]
    )
    assert attempts == [(1,), (1,)]


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        pytest.param("llm_worker.of_a_later_release", {}, id="unknown task"),
        pytest.param(RUN_TURN, {"run_id": "not an id"}, id="nonsense id"),
        pytest.param(RUN_TURN, {"run_id": str(uuid4())}, id="id of no run"),
        pytest.param(RUN_TURN, {}, id="no id"),
    ],
)
async def test_a_worker_drops_what_it_does_not_understand(
    cluster: Cluster, scenario: Scenario, task: str, arguments: dict[str, str]
) -> None:
    deliver(cluster, arguments, task, times=4)
    with kombu.Connection(cluster.redis_url) as broker, broker.SimpleQueue(DEFAULT_QUEUE) as queue:
        queue.put("not a task at all", serializer="json")
        queue.put(b"\xff\xfe", content_type="application/x-python-serialize", content_encoding="binary")
    questions = await scenario.ask_many(4)
    for question in questions:
        assert (await question.ended()).stop_reason == "finished"
    await scenario.check()
    assert all(process.poll() is None for process in cluster.stack.processes.values())
    assert waiting(cluster) == 0
