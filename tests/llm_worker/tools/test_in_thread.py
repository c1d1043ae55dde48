"""Blocking work of a tool in a thread, and its abandonment when the call is cancelled."""

import asyncio
import threading

import pytest

from llm_worker.tools.in_thread import run_in_thread

pytestmark = pytest.mark.pure


async def test_the_result_is_returned_and_the_event_loop_is_not_blocked() -> None:
    go_on = threading.Event()
    waiting = asyncio.create_task(run_in_thread(lambda: go_on.wait(60) and threading.current_thread().name))
    await asyncio.sleep(0)
    go_on.set()
    assert await waiting == "tool"


async def test_exceptions_are_raised_to_the_caller() -> None:
    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await run_in_thread(broken)


class BlockingWork:
    """Work that blocks until `go_on` is set, and records its thread."""

    def __init__(self, *, fails: bool = False) -> None:
        self.started, self.go_on = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None
        self._fails = fails

    def __call__(self) -> int:
        self.thread = threading.current_thread()
        self.started.set()
        self.go_on.wait(60)
        return 1 // (not self._fails)

    def ends(self) -> bool:
        self.go_on.set()
        assert self.thread
        self.thread.join(60)
        return not self.thread.is_alive()


@pytest.mark.parametrize("fails", [False, True])
async def test_cancellation_returns_at_once_and_a_late_result_is_discarded(fails: bool) -> None:
    slow = BlockingWork(fails=fails)
    waiting = asyncio.create_task(run_in_thread(slow))
    await asyncio.to_thread(slow.started.wait, 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert slow.thread
    assert slow.thread.is_alive()
    assert await asyncio.to_thread(slow.ends)
    await asyncio.sleep(0)  # the late result arrives now and is discarded


def test_work_that_outlives_the_event_loop_ends_without_an_error() -> None:
    slow = BlockingWork()

    async def leave() -> None:
        waiting = asyncio.create_task(run_in_thread(slow))
        await asyncio.to_thread(slow.started.wait, 60)
        waiting.cancel()

    asyncio.run(leave())
    assert slow.ends()
