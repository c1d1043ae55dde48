"""What the real processes count reaches /metrics of any web process."""

import asyncio
import time
from typing import Any

import httpx2
import kombu
import pytest
from prometheus_client.parser import text_string_to_metric_families

from chat.metrics.tally import EVERY_S
from chat.protocol.tasks import DEFAULT_QUEUE
from tests.e2e.client import Client
from tests.stack import READY_S, Stack

pytestmark = pytest.mark.e2e
COUNTED = (
    "turnwire_runs_ended_total",
    "turnwire_tokens_total",
    "turnwire_time_to_first_token_seconds_count",
    "turnwire_stop_seconds_count",
)


def told(stack: Stack) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = httpx2.get(f"{stack.base_url}/metrics", trust_env=False).text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def rise(stack: Stack, before: Any, name: str, **labels: str) -> float:
    """By how much it has risen since `before`, once it has: processes tell what they counted every two seconds."""
    key = (name, frozenset(labels.items()))
    limit = time.monotonic() + READY_S
    while True:
        risen = (await asyncio.to_thread(told, stack)).get(key, 0) - before.get(key, 0)
        if risen > 0:
            return risen
        assert time.monotonic() < limit, f"{name} {labels} has not risen"
        await asyncio.sleep(0.1)


async def settled(stack: Stack) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """What is told once processes have told all that earlier tests made them count, and a round of telling after it."""
    before = await asyncio.to_thread(told, stack)
    limit = time.monotonic() + READY_S
    while True:
        await asyncio.sleep(2 * EVERY_S)
        now = await asyncio.to_thread(told, stack)
        if all(now.get(key) == value for key, value in before.items() if key[0] in COUNTED):
            return now
        assert time.monotonic() < limit, "something is counted all the time"
        before = now


async def test_an_answer_and_a_stop_are_counted(stack: Stack) -> None:
    before = await settled(stack)
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    stack.upstream.reply({"text": "Yes."}, {"usage": usage}, times=1)
    stack.upstream.reply({"text": "It"}, {"wait": "never"})
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        answered = (await alice.ask(session, "Do you count?", models=["alpha"]))["runs"][0]
        await socket.ended(answered["id"])
        stopped = (await alice.ask(session, "Until when?", models=["alpha"]))["runs"][0]
        await socket.showing(stopped["id"], "It")
        await alice.call("POST", f"runs/{stopped['id']}/cancellation/", status=202)
        await socket.ended(stopped["id"])

        for status in ("completed", "stopped"):
            assert await rise(stack, before, "turnwire_runs_ended_total", status=status, model="alpha") == 1
        kinds = ("prompt", "completion", "estimated")
        tokens = {
            kind: await rise(stack, before, "turnwire_tokens_total", model="alpha", kind=kind)
            for kind in kinds
        }
        assert tokens["estimated"] > 0, "of the answer that was stopped, whose server had told nothing"
        assert tokens["prompt"] + tokens["completion"] - tokens["estimated"] == usage["total_tokens"]
        assert await rise(stack, before, "turnwire_time_to_first_token_seconds_count", model="alpha") == 2
        assert await rise(stack, before, "turnwire_stop_seconds_count") == 1
        assert await rise(stack, before, "turnwire_append_seconds_count") >= 2
        assert await rise(stack, {}, "turnwire_sockets") >= 1
    for role in ("web", "llm"):
        assert await rise(stack, {}, "turnwire_processes", role=role) >= 1


async def test_a_message_that_no_worker_understands_is_counted(stack: Stack) -> None:
    before = told(stack)
    with (
        kombu.Connection(stack.environment["REDIS_URL"]) as broker,
        broker.SimpleQueue(DEFAULT_QUEUE) as queue,
    ):
        queue.put("not a task at all", serializer="json")
    assert await rise(stack, before, "turnwire_tasks_dropped_total") >= 1
