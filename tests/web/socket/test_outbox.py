"""The outbox of a socket: frames, limits, closing."""

import asyncio

import pytest

from web.socket.outbox import FRAME_BYTES, MAX_BYTES, MAX_PACKETS, Outbox

pytestmark = pytest.mark.pure


def overflowing() -> tuple[Outbox, list[str]]:
    outbox, overflows = Outbox(), []
    outbox.on_overflow = lambda: overflows.append("overflow")
    return outbox, overflows


def test_what_waits_is_one_frame_with_one_object_per_line():
    outbox = Outbox()
    outbox.put(b'{"a":1}')
    outbox.put('{"a":"語"}\n{"a":3}'.encode(), packets=2)
    assert outbox.take() == '{"a":1}\n{"a":"語"}\n{"a":3}'


def test_frames_stay_below_what_common_clients_accept():
    outbox = Outbox()
    for _ in range(3):
        outbox.put(b"x" * (FRAME_BYTES // 2))
    assert [len(outbox.take()) for _ in range(2)] == [FRAME_BYTES + 1, FRAME_BYTES // 2]


def test_a_burst_is_no_slow_client_while_nothing_is_being_written():
    outbox, overflows = overflowing()
    for _ in range(10 * MAX_PACKETS):
        outbox.put(b"{}")
    assert overflows == []
    assert outbox.take().count("{}") == 10 * MAX_PACKETS


def test_too_many_packets_behind_a_stuck_write_are_reported_once():
    outbox, overflows = overflowing()
    outbox.is_writing = True
    for _ in range(MAX_PACKETS):
        outbox.put(b"{}")
    assert overflows == []
    outbox.put(b"{}")
    outbox.put(b"{}")
    assert overflows == ["overflow"]


def test_too_many_bytes_behind_a_stuck_write_are_reported():
    outbox, overflows = overflowing()
    outbox.is_writing = True
    outbox.put(b"x" * MAX_BYTES)
    outbox.put(b"x")
    assert overflows == ["overflow"]


async def test_replay_waits_for_room():
    outbox = Outbox()
    for _ in range(MAX_PACKETS // 2 + 1):
        await outbox.wait_for_space()
        outbox.put(b"{}")
    waiting = asyncio.create_task(outbox.wait_for_space())
    await asyncio.sleep(0)
    assert not waiting.done()
    outbox.take()
    await waiting


async def test_a_closed_outbox_gives_what_it_has_and_then_ends():
    outbox = Outbox()
    outbox.put(b"{}")
    outbox.close()
    outbox.put(b"too late")
    assert await outbox.wait()
    assert outbox.take() == "{}"
    assert not await outbox.wait()
