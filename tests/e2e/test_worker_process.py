"""The worker as a process: it is told to end, and it is sent what it does not understand."""

import asyncio
import signal

import kombu
import pytest
from celery import Celery

from chat.protocol.tasks import DEFAULT_QUEUE
from tests.e2e.client import Client
from tests.instance import free_port
from tests.stack import Stack

pytestmark = pytest.mark.e2e


async def test_a_worker_told_to_end_finishes_its_answers_and_leaves_quietly(stack: Stack) -> None:
    stack.upstream.reply({"text": "Half, "}, {"wait": "SIGTERM"}, {"text": "whole."})
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        run = (await alice.ask(session, "Will you finish?"))["runs"][0]
        await socket.showing(run["id"], "Half")
        before = len(stack.log("llm"))
        stack.signal("llm", signal.SIGTERM)
        await asyncio.to_thread(stack.upstream.wait_for, lambda: "Warm shutdown" in stack.log("llm")[before:])
        stack.upstream.release("SIGTERM")
        assert (await socket.ended(run["id"])).text == "Half, whole."
        assert await asyncio.to_thread(stack.wait_for_exit, "llm", 60) == 0
        assert "Traceback" not in stack.log("llm")[before:]
        # The next one takes over what comes then.
        stack.start("llm")
        after = (await alice.ask(session, "And now?"))["runs"][0]
        assert (await socket.ended(after["id"])).stop_reason == "finished"


async def test_a_worker_that_waits_for_postgres_ends_when_it_is_told_to(stack: Stack) -> None:
    elsewhere = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    stack.start("llm", "llm.waiting", {"DATABASE_URL": elsewhere})
    waits = "the liveness lock waits for Postgres"
    await asyncio.to_thread(stack.upstream.wait_for, lambda: waits in stack.log("llm.waiting"))
    stack.signal("llm.waiting", signal.SIGTERM)
    assert await asyncio.to_thread(stack.wait_for_exit, "llm.waiting", 20) == 0
    assert "Traceback" not in stack.log("llm.waiting")


async def test_a_worker_that_ends_without_a_signal_says_so(stack: Stack) -> None:
    stack.start("llm", "llm.ending", {"LLM_QUEUES": "ending"})
    app = Celery(broker=stack.environment["REDIS_URL"], set_as_current=False)

    def consumes() -> bool:
        queues = app.control.inspect(timeout=0.5).active_queues() or {}
        names.extend(name for name, read in queues.items() if read[0]["name"] == "ending")
        return bool(names)

    names: list[str] = []
    await asyncio.to_thread(stack.upstream.wait_for, consumes)
    app.control.shutdown(destination=names)
    await asyncio.to_thread(stack.wait_for_exit, "llm.ending", 20)
    app.close()
    assert "the worker ends with status" in stack.log("llm.ending")


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        pytest.param("llm_worker.of_a_later_release", {}, id="unknown task"),
        pytest.param("llm_worker.run_turn", {"run_id": "not an id"}, id="nonsense id"),
        pytest.param("llm_worker.run_turn", {}, id="no id"),
    ],
)
async def test_a_worker_survives_what_it_does_not_understand(
    stack: Stack, task: str, arguments: dict[str, str]
) -> None:
    with (
        kombu.Connection(stack.environment["REDIS_URL"]) as broker,
        broker.SimpleQueue(DEFAULT_QUEUE) as queue,
    ):
        headers = {
            "task": task,
            "id": "1",
            "lang": "py",
            "root_id": "1",
            "parent_id": None,
            "argsrepr": "",
            "kwargsrepr": "",
        }
        queue.put([[], arguments, {}], serializer="json", headers=headers)
        queue.put("not a task at all", serializer="json")
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        run = (await alice.ask(session, "Still there?"))["runs"][0]
        assert (await socket.ended(run["id"])).stop_reason == "finished"
