"""Blocking work beside the loop, and left behind when nobody waits for it any more."""

import asyncio
import threading

import pytest

from llm_worker.tools.in_thread import run_in_thread

pytestmark = pytest.mark.pure


async def test_it_returns_what_the_work_returns_while_the_loop_goes_on() -> None:
    go_on = threading.Event()
    waiting = asyncio.create_task(run_in_thread(lambda: go_on.wait(60) and threading.current_thread().name))
    await asyncio.sleep(0)
    go_on.set()
    assert await waiting == "tool"


async def test_it_raises_what_the_work_raises() -> None:
    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await run_in_thread(broken)


class Slow:
    """Work that goes on when told to; knows its thread."""

    def __init__(self, *, fails: bool = False) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None
        self._fails = fails

    def __call__(self) -> int:
        self.thread = threading.current_thread()
        self.begun.set()
        self.go_on.wait(60)
        return 1 // (not self._fails)

    def ends(self) -> bool:
        self.go_on.set()
        assert self.thread
        self.thread.join(60)
        return not self.thread.is_alive()


@pytest.mark.parametrize("fails", [False, True])
async def test_cancelled_it_ends_at_once_and_what_comes_later_is_thrown_away(fails: bool) -> None:
    slow = Slow(fails=fails)
    waiting = asyncio.create_task(run_in_thread(slow))
    await asyncio.to_thread(slow.begun.wait, 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert slow.thread
    assert slow.thread.is_alive()
    assert await asyncio.to_thread(slow.ends)
    await asyncio.sleep(0)  # what it came to is told now, to nobody


def test_work_that_outlives_its_loop_ends_quietly() -> None:
    slow = Slow()

    async def leave() -> None:
        waiting = asyncio.create_task(run_in_thread(slow))
        await asyncio.to_thread(slow.begun.wait, 60)
        waiting.cancel()

    asyncio.run(leave())
    assert slow.ends()
