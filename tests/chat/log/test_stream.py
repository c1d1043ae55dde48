"""The packet log's script against a real Valkey: fenced, idempotent, and it answers gaps."""

import asyncio
import uuid

import pytest

from chat.infrastructure.redis_client import close_async_redis, sync_redis
from chat.log.stream import (
    Appended,
    Cursor,
    Log,
    append,
    append_now,
    event_log,
    position_now,
    read,
    read_now,
    run_log,
)

SESSION = "5e551011-0000-0000-0000-000000000000"


@pytest.fixture
def log() -> Log:
    return run_log(SESSION, uuid.uuid4())


def lines(first: int, last: int) -> list[bytes]:
    return [b'{"seq":%d}' % seq for seq in range(first, last + 1)]


def put(log: Log, attempt: int, first: int, last: int, base: int = 1) -> Appended:
    return append_now(log, attempt, first, lines(first, last), base)


def held(log: Log, after: Cursor | None = None) -> list[int]:
    return [seq for seq, _ in read_now(log, after).lines]


@pytest.mark.parametrize(
    ("before", "appended", "outcome", "last", "kept"),
    [
        pytest.param([], (1, 1, 3), "ok", 3, [1, 2, 3], id="a first append begins the log"),
        pytest.param([(1, 1, 2)], (1, 3, 4), "ok", 4, [1, 2, 3, 4], id="the next one goes on"),
        pytest.param([(1, 1, 3)], (1, 1, 3), "held", 3, [1, 2, 3], id="a repeat changes nothing"),
        pytest.param([(1, 1, 3)], (1, 2, 5), "ok", 5, [1, 2, 3, 4, 5], id="an overlap adds what is new"),
        pytest.param([(1, 1, 3)], (1, 1, 2), "held", 3, [1, 2, 3], id="an older repeat changes nothing"),
        pytest.param([(1, 1, 3)], (1, 5, 6), "gap", 3, [1, 2, 3], id="a gap is answered with what is held"),
        pytest.param([], (1, 4, 6), "gap", 0, [], id="a lost log is a gap from the start"),
        pytest.param([(2, 1, 2)], (1, 3, 3), "stale", 2, [1, 2], id="an older attempt is refused"),
        pytest.param([(1, 1, 5)], (2, 1, 2), "ok", 2, [1, 2], id="a newer attempt starts again"),
        pytest.param(
            [(1, 1, 5)], (2, 3, 4), "gap", 0, [1, 2, 3, 4, 5], id="a newer attempt starts at its base"
        ),
        pytest.param(
            [(1, 1, 5)], (2, 0, 1, 0), "ok", 1, [0, 1], id="a snapshot opens an attempt under seq 0"
        ),
        pytest.param(
            [(1, 1, 5)], (2, 1, 1, 0), "gap", -1, [1, 2, 3, 4, 5], id="the snapshot must come first"
        ),
    ],
)
def test_the_log_answers(log, before, appended, outcome, last, kept):
    for given in before:
        put(log, *given)
    assert put(log, *appended) == Appended(outcome, last)
    assert held(log) == kept


def test_a_publication_names_the_run_and_only_the_new_entries(log):
    pubsub = sync_redis().pubsub()
    pubsub.subscribe(log.channel)
    assert pubsub.get_message(timeout=10)["type"] == "subscribe"
    put(log, 1, 1, 2)
    put(log, 1, 1, 2)
    put(log, 1, 2, 3)
    published = [pubsub.get_message(timeout=10)["data"] for _ in range(2)]
    pubsub.close()
    run = log.name.encode()
    assert published == [run + b' 1 1 2\n{"seq":1}\n{"seq":2}', run + b' 1 3 3\n{"seq":3}']


def test_log_and_position_live_an_hour_after_the_last_append(log):
    put(log, 1, 1, 1)
    for key in (log.meta, log.entries):
        sync_redis().expire(key, 5)
    put(log, 1, 2, 2)
    assert all(3500 < sync_redis().ttl(key) <= 3600 for key in (log.meta, log.entries))


def test_the_log_of_a_run_that_has_ended_lives_ten_minutes_and_longer_if_the_run_goes_on(log):
    keys = (log.meta, log.entries)
    put(log, 1, 1, 1)
    put(log.as_ending(), 1, 2, 2)
    assert all(500 < sync_redis().ttl(key) <= 600 for key in keys)
    put(log, 2, 1, 1)
    assert all(3500 < sync_redis().ttl(key) <= 3600 for key in keys)


def test_after_a_flush_the_producer_resends_under_the_same_attempt(log):
    put(log, 1, 1, 3)
    sync_redis().delete(log.meta, log.entries)
    assert put(log, 1, 4, 4) == Appended("gap", 0)
    assert put(log, 1, 1, 4) == Appended("ok", 4)
    assert held(log) == [1, 2, 3, 4]


def test_a_log_without_its_position_starts_again_from_the_base(log):
    put(log, 1, 1, 3)
    sync_redis().delete(log.meta)
    assert put(log, 1, 4, 4) == Appended("gap", 0)
    assert put(log, 1, 1, 4) == Appended("ok", 4)


def test_reading_goes_on_after_a_cursor(log):
    put(log, 1, 1, 4)
    assert held(log, Cursor(1, 2)) == [3, 4]
    assert held(log, Cursor(1, 4)) == []
    assert read_now(log).lines[0] == (1, b'{"seq":1}')
    assert read_now(log, count=2).lines == read_now(log).lines[:2]


def test_a_cursor_of_an_older_attempt_reads_the_newer_one_from_its_start(log):
    put(log, 1, 1, 4)
    put(log, 2, 0, 1, base=0)
    found = read_now(log, Cursor(1, 4))
    assert (found.attempt, found.last, [seq for seq, _ in found.lines]) == (2, 1, [0, 1])


def test_a_log_that_is_not_there_is_empty(log):
    assert read_now(log) == (0, 0, [])
    assert position_now(log) is None


def test_events_of_a_session_share_its_channel_and_not_its_keys():
    assert event_log(SESSION).channel == run_log(SESSION, "r").channel
    assert event_log(SESSION).name == "-"


async def test_async_and_sync_twins_agree(log):
    assert await append(log, 1, 1, lines(1, 2)) == Appended("ok", 2)
    assert await read(log) == await asyncio.to_thread(read_now, log)
    await close_async_redis()
