"""A model server that takes few requests at once never has more, whichever process asks it; those of runs come first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from redis.exceptions import ConnectionError as RedisIsAway

from chat.infrastructure import log_context
from chat.infrastructure.redis_client import close_async_redis
from chat.infrastructure.server_waits import read_waits
from llm_worker.request.model_message import Message
from llm_worker.upstream import server_slots
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(server_slots, "POLL_S", 0.01)
    monkeypatch.setattr(server_slots, "ASIDE_POLL_S", 0.02)
    monkeypatch.setattr(server_slots, "EXTEND_S", 0.05)


@pytest.fixture
async def processes() -> AsyncIterator[list[LanguageModels]]:
    """Clients as those of two processes."""
    async with AsyncExitStack() as stack:
        clients = [LanguageModels(connections=10, silence_s=20, first_retry_s=0.001) for _ in range(2)]
        for client in clients:
            stack.push_async_callback(client.close)
        yield clients
    await close_async_redis()


def request(upstream, question, limit=1, **fields):
    return Request(Model("m", upstream.base_url, max_requests=limit), [Message("U", question)], **fields)


async def run(models, asked):
    async for _ in models.stream(asked):
        pass


def questions(upstream):
    return [received.messages[-1]["content"] for received in (*upstream.requests, *upstream.asides)]


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  a condition of another thread
            await asyncio.sleep(0.01)


async def until_waiting(run):
    async with asyncio.timeout(30):
        while not await read_waits([run]):  # noqa: ASYNC110  said by a key of Redis
            await asyncio.sleep(0.01)


async def test_one_waits_until_the_other_has_ended_in_the_order_in_which_they_came(processes, upstream):
    one, other = processes
    upstream.reply({"wait": "first"}, {"text": "So."}, contains="first")
    upstream.reply({"text": "So."})
    async with asyncio.TaskGroup() as group:
        group.create_task(run(one, request(upstream, "first")))
        await until(lambda: questions(upstream) == ["first"])
        with log_context.bound(run="second-run"):
            group.create_task(run(other, request(upstream, "second")))
        await until_waiting("second-run")
        assert await read_waits(["second-run"]) == {"second-run": 1}
        with log_context.bound(run="third-run"):
            group.create_task(run(one, request(upstream, "third")))
        await until_waiting("third-run")
        assert await read_waits(["second-run", "third-run"]) == {"second-run": 1, "third-run": 2}
        assert questions(upstream) == ["first"]
        upstream.release("first")
    assert questions(upstream) == ["first", "second", "third"]
    assert await read_waits(["second-run", "third-run"]) == {}


async def test_those_that_come_in_one_millisecond_wait_in_the_order_in_which_they_came(processes, upstream):
    slots = [server_slots._Slot.from_request(request(upstream, "question"), 1) for _ in range(20)]
    assert [await slot.take() for slot in slots] == list(range(20))
    await slots[0].leave()
    assert [await slot.take() for slot in slots[1:]] == list(range(19))


async def test_a_server_that_takes_two_has_two(processes, upstream):
    upstream.reply({"wait": "both"}, {"text": "So."})
    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(run(processes[number % 2], request(upstream, str(number), limit=2)))
        await until(lambda: len(upstream.requests) == 2)
        await asyncio.sleep(0.2)
        assert len(upstream.requests) == 2
        upstream.release("both")
    assert len(upstream.requests) == 3


async def test_a_server_without_a_limit_is_asked_at_once(processes, upstream):
    upstream.reply({"wait": "both"}, {"text": "So."})
    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(run(processes[0], request(upstream, str(number), limit=None)))
        await until(lambda: len(upstream.requests) == 3)
        upstream.release("both")


async def test_a_run_goes_before_a_title_that_waits_longer(processes, upstream):
    upstream.reply({"wait": "first"}, {"text": "So."}, contains="first")
    upstream.reply({"text": "So."})
    upstream.reply({"text": "A Title"}, stream=False)
    titling, answering = processes
    async with asyncio.TaskGroup() as group:
        group.create_task(run(answering, request(upstream, "first")))
        await until(lambda: questions(upstream) == ["first"])
        title = group.create_task(titling.complete(request(upstream, "title", gives_way=True)))
        await asyncio.sleep(0.1)
        with log_context.bound(run="second-run"):
            second = group.create_task(run(answering, request(upstream, "second")))
        await until_waiting("second-run")
        upstream.release("first")
        await second
        assert not upstream.asides
    assert title.result().text == "A Title"


async def test_a_summary_gives_way_to_a_run_and_is_asked_again(processes, upstream):
    upstream.reply({"hang": True}, stream=False, times=1)
    upstream.reply({"text": "A summary."}, stream=False)
    upstream.reply({"text": "So."})
    summarising, answering = processes
    async with asyncio.TaskGroup() as group:
        summary = group.create_task(summarising.complete(request(upstream, "summary", gives_way=True)))
        await until(lambda: upstream.asides)
        await run(answering, request(upstream, "question"))
        assert upstream.asides[0].ended
    assert summary.result().text == "A summary."
    assert len(upstream.asides) == 2


async def test_what_is_asked_for_a_run_gives_no_way(processes, upstream):
    upstream.reply({"wait": "safe"}, {"text": "{}"}, stream=False)
    upstream.reply({"text": "So."})
    async with asyncio.TaskGroup() as group:
        group.create_task(processes[0].complete(request(upstream, "safe summary")))
        await until(lambda: upstream.asides)
        group.create_task(run(processes[1], request(upstream, "question")))
        await asyncio.sleep(0.3)
        assert questions(upstream) == ["safe summary"]
        upstream.release("safe")
    assert len(upstream.asides) == 1


async def test_the_time_that_a_title_has_begins_when_its_server_takes_it(processes, upstream):
    upstream.reply({"wait": "first"}, {"text": "So."})
    upstream.reply({"text": "A Title"}, stream=False, times=1)
    upstream.reply({"hang": True}, stream=False)
    async with asyncio.TaskGroup() as group:
        group.create_task(run(processes[0], request(upstream, "first")))
        await until(lambda: upstream.requests)
        titled = request(upstream, "title", gives_way=True, limit_s=1.5)
        title = group.create_task(processes[1].complete(titled))
        await asyncio.sleep(1.7)
        upstream.release("first")
    assert title.result().text == "A Title"
    with pytest.raises(TimeoutError):
        await processes[1].complete(titled)


async def test_one_that_is_stopped_while_it_waits_leaves_its_place(processes, upstream, monkeypatch):
    monkeypatch.setattr(server_slots, "PLACE_KEPT_MS", 120_000)
    upstream.reply({"wait": "first"}, {"text": "So."}, contains="first")
    upstream.reply({"text": "So."})
    async with asyncio.TaskGroup() as group:
        group.create_task(run(processes[0], request(upstream, "first")))
        await until(lambda: upstream.requests)
        with log_context.bound(run="stopped-run"):
            stopped = asyncio.create_task(run(processes[0], request(upstream, "stopped")))
        await until_waiting("stopped-run")
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        third = group.create_task(run(processes[1], request(upstream, "third")))
        upstream.release("first")
        async with asyncio.timeout(30):
            await third
    assert questions(upstream) == ["first", "third"]


async def test_the_slot_of_a_process_that_was_killed_is_free_soon(processes, upstream, monkeypatch):
    monkeypatch.setattr(server_slots, "HELD_MS", 2000)
    asked = request(upstream, "question")
    killed = server_slots._Slot.from_request(asked, 1)
    assert await killed.take() == 0
    upstream.reply({"text": "So."})
    answering = asyncio.create_task(run(processes[0], asked))
    await asyncio.sleep(0.1)
    assert not upstream.requests
    await answering
    assert len(upstream.requests) == 1


async def test_without_redis_the_server_is_asked_as_if_it_had_no_limit(processes, upstream, monkeypatch):
    async def away(*_):
        raise RedisIsAway

    monkeypatch.setattr(server_slots, "_evaluate", away)
    upstream.reply({"text": "So."})
    await run(processes[0], request(upstream, "question"))
    assert len(upstream.requests) == 1
