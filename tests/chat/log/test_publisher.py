"""The batching publisher against a real Valkey: what is emitted is in the log, whatever Redis goes through."""

import asyncio
import uuid

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from chat.infrastructure.redis_client import async_redis, close_async_redis
from chat.log.flush_window import FlushWindow
from chat.log.producer import MAX_DELTA_CHARACTERS, StaleAttempt
from chat.log.publisher import Publisher
from chat.log.stream import append, read, run_log
from chat.protocol import wire as p
from chat.transcript.packets import fold
from tests.relay import Relay

HERE = p.Placement()


@pytest_asyncio.fixture
async def publisher():
    publisher = Publisher(async_redis())
    await publisher.start()
    yield publisher
    await publisher.close()
    await close_async_redis()


def address(attempt: int = 1) -> p.RunAddress:
    return p.RunAddress(session=str(uuid.uuid4()), run=str(uuid.uuid4()), attempt=attempt)


def opened(publisher: Publisher, where: p.RunAddress | None = None):
    return publisher.open(where or address(), on_stale=lambda: None)


async def logged(where: p.RunAddress) -> list[p.LogEntry]:
    found = await read(run_log(where.session, where.run))
    entries = [p.decode_log_entry(line) for _, line in found.lines]
    assert [entry.seq for entry in entries] == [seq for seq, _ in found.lines]
    return entries


def say(producer, *texts: str) -> None:
    for text in texts:
        producer.emit(HERE, p.MessageDelta(text=text))


async def test_deltas_that_wait_together_become_one_packet(publisher):
    producer = opened(publisher)
    producer.emit(HERE, p.MessageStart())
    say(producer, "a", "b", "c")
    producer.emit(p.Placement(turn_index=1), p.MessageDelta(text="d"))
    producer.emit(p.Placement(turn_index=1), p.ReasoningDelta(text="e"))
    assert producer.settle() == 4
    await producer.flush()
    objs = [entry.obj for entry in await logged(producer.address)]
    assert objs == [
        p.MessageStart(), p.MessageDelta(text="abc"), p.MessageDelta(text="d"), p.ReasoningDelta(text="e")
    ]  # fmt: skip


async def test_arguments_that_wait_together_become_one_packet_of_their_call(publisher):
    producer = opened(publisher)
    producer.emit(HERE, p.ToolStart("a", "ask"))
    for text in ("{", '"q"', ":1}"):
        producer.emit(HERE, p.ToolArgumentsDelta("a", text))
    producer.emit(HERE, p.ToolArguments("a", {"q": 1}))
    producer.emit(HERE, p.ToolArgumentsDelta("b", "x" * (MAX_DELTA_CHARACTERS + 1)))
    await producer.flush()
    objs = [entry.obj for entry in await logged(producer.address)]
    assert objs == [
        p.ToolStart("a", "ask"), p.ToolArgumentsDelta("a", '{"q":1}'), p.ToolArguments("a", {"q": 1}),
        p.ToolArgumentsDelta("b", "x" * MAX_DELTA_CHARACTERS), p.ToolArgumentsDelta("b", "x"),
    ]  # fmt: skip


async def test_a_checkpoint_stays_before_what_is_held(publisher):
    producer = opened(publisher)
    say(producer, "a")
    producer.hold()
    producer.emit(HERE, p.ToolStart("a", "ask"))
    assert (producer.settle_for_checkpoint(), producer.settle()) == (1, 2)
    producer.release()
    assert producer.settle_for_checkpoint() == 2
    await producer.flush()


async def test_what_was_numbered_is_never_merged_into(publisher):
    producer = opened(publisher)
    say(producer, "a")
    assert producer.settle() == 1
    say(producer, "b")
    assert producer.settle() == 2
    await producer.flush()
    assert fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text == "ab"


async def test_a_huge_delta_is_split_under_the_packet_limit(publisher):
    producer = opened(publisher)
    text = "\x01😀" * MAX_DELTA_CHARACTERS
    say(producer, text, "end")
    await producer.flush()
    entries = await logged(producer.address)
    assert all(len(p.encode(entry)) <= p.MAX_PACKET_BYTES for entry in entries)
    assert fold((entry.placement, entry.obj) for entry in entries).text == text + "end"


async def test_a_stop_is_in_the_log_without_waiting_for_the_window():
    window = FlushWindow(max_window_s=3600)
    publisher = Publisher(async_redis(), window)
    await publisher.start()
    producer = opened(publisher)
    window.count(10**12)
    await window.next_window()
    say(producer, "first delta of a block goes at once")
    producer.emit(HERE, p.Stop(stop_reason="finished"))
    async with asyncio.timeout(30):
        while not any(isinstance(entry.obj, p.Stop) for entry in await logged(producer.address)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    await publisher.close()
    await close_async_redis()


async def test_many_runs_end_with_everything_they_emitted(publisher):
    producers = [opened(publisher) for _ in range(40)]

    async def talk(producer) -> str:
        words = [f"{number} " for number in range(200)]
        for word in words:
            say(producer, word)
            if int(word) % 10 == 0:
                await asyncio.sleep(0.001)
        await producer.flush()
        return "".join(words)

    texts = await asyncio.gather(*(talk(producer) for producer in producers))
    for producer, text in zip(producers, texts, strict=True):
        assert fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text == text


async def test_a_newer_attempt_ends_the_older_one(publisher):
    told = []
    where = address()
    producer = publisher.open(where, on_stale=lambda: told.append("stale"))
    say(producer, "old")
    await producer.flush()
    await append(run_log(where.session, where.run), 2, 1, [b"{}"])
    say(producer, "too late")
    with pytest.raises(StaleAttempt):
        await producer.flush()
    say(producer, "still too late")
    with pytest.raises(StaleAttempt):
        await producer.flush()
    assert told == ["stale"]


async def test_a_log_that_was_lost_is_sent_again_whole(publisher):
    producer = opened(publisher)
    say(producer, "one")
    await producer.flush()
    await async_redis().delete(producer.log.meta, producer.log.entries)
    say(producer, "two")
    await producer.flush()
    assert fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text == "onetwo"


async def test_long_logs_are_sent_again_in_several_appends(publisher):
    producer = opened(publisher)
    for number in range(300):
        producer.emit(p.Placement(turn_index=number), p.MessageDelta(text=f"{number} "))
    await producer.flush()
    await async_redis().delete(producer.log.meta, producer.log.entries)
    say(producer, "end")
    await producer.flush()
    assert len(await logged(producer.address)) == 301


async def test_a_forgotten_script_is_loaded_again(publisher):
    producer = opened(publisher)
    await async_redis().script_flush()
    say(producer, "said")
    await producer.flush()
    await async_redis().script_flush()
    say(producer, " again")
    await producer.flush()
    assert fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text == "said again"


async def test_a_snapshot_opens_an_attempt_under_seq_0(publisher):
    where = address(attempt=2)
    producer = opened(publisher, where)
    producer.open_with_snapshot(p.Snapshot(run=where.run, attempt=2, seq=0, message={"text": "kept"}))
    say(producer, " and more")
    await producer.flush()
    assert [entry.seq for entry in await logged(where)] == [0, 1]
    assert producer.settle() == 1


async def test_what_cannot_be_sent_is_kept_until_redis_is_back():
    relay = Relay()
    await relay.mend()
    client = Redis.from_url(relay.url, socket_timeout=5, socket_connect_timeout=5)
    publisher = Publisher(client)
    await publisher.start()
    producer = opened(publisher)
    say(producer, "before, ")
    await producer.flush()
    await relay.cut()
    say(producer, "kept ")
    flushed = asyncio.create_task(producer.flush())
    assert not (await asyncio.wait({flushed}, timeout=0.3))[0]
    say(producer, "and sent")
    await relay.mend()
    await flushed
    await producer.flush()
    assert (
        fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text
        == "before, kept and sent"
    )
    await publisher.close()
    await client.aclose()
    await relay.cut()
    await close_async_redis()


async def test_a_discarded_producer_sends_nothing_more(publisher):
    producer = opened(publisher)
    say(producer, "said")
    await producer.flush()
    say(producer, "not said")
    producer.discard()
    other = opened(publisher)
    say(other, "x")
    await other.flush()
    assert fold((entry.placement, entry.obj) for entry in await logged(producer.address)).text == "said"
