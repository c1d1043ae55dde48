"""The window of a process: what waits for a window, what does not, and in which order things move when it opens."""

import asyncio

import pytest

from chat.log.flush_window import FlushWindow, window_share

pytestmark = pytest.mark.pure


async def busy(max_window_s: float = 0.02) -> FlushWindow:
    """A window after a moment of heavy load, whose window has just opened."""
    window = FlushWindow(max_window_s)
    window.count(10**9)
    window.next_window()
    await asyncio.sleep(0)
    return window


@pytest.mark.parametrize(
    ("chunks_per_s", "part"),
    [(0, 0.0), (300, 0.0), (450, 0.5), (600, 1.0), (90_000, 1.0)],
)
def test_the_window_grows_with_the_load_and_is_zero_without(chunks_per_s, part):
    assert window_share(chunks_per_s) == part


async def test_nobody_waits_while_little_is_said():
    window = FlushWindow()
    called = asyncio.Event()
    assert window.next_window().done()
    window.call_in_next_window(called.set)
    async with asyncio.timeout(30):
        await called.wait()


async def test_under_load_all_wait_for_the_same_moment():
    window = await busy()
    readers = [window.next_window() for _ in range(3)]
    assert not any(reader.done() for reader in readers)
    async with asyncio.timeout(30):
        await readers[0]
    assert all(reader.done() for reader in readers)


async def test_what_readers_say_when_a_window_opens_is_carried_in_it():
    window, seen = await busy(), []

    async def reader() -> None:
        await window.next_window()
        if not seen:
            window.call_in_next_window(carry)
        seen.append("read")

    def carry() -> None:
        seen.append("carried")
        carried.set()

    carried = asyncio.Event()
    readers = [asyncio.create_task(reader()) for _ in range(3)]
    async with asyncio.timeout(30):
        await asyncio.gather(carried.wait(), *readers)
    assert seen == ["read"] * 3 + ["carried"]


async def test_a_reader_that_gave_up_holds_nobody_up():
    window = await busy()
    gone, waiting = window.next_window(), window.next_window()
    gone.cancel()
    async with asyncio.timeout(30):
        await waiting
