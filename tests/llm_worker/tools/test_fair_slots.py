"""What a worker computes for one user keeps no other user waiting."""

import asyncio
import threading
from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.tools import in_thread
from llm_worker.tools.fair_slots import USER, FairSlots, LoopSlots

pytestmark = pytest.mark.pure


class Workers:
    """Tasks of users that hold a slot until they are told to end, and the users in the order of their slots."""

    def __init__(self, slots: FairSlots) -> None:
        self.slots = slots
        self.tasks: list[asyncio.Task[None]] = []
        self.holding: list[tuple[int, asyncio.Event]] = []
        self.begun: list[int] = []

    def start(self, user: int) -> None:
        self.tasks.append(asyncio.create_task(self._work(user)))

    async def _work(self, user: int) -> None:
        USER.set(user)
        free = await self.slots.take()
        end = asyncio.Event()
        self.holding.append((user, end))
        self.begun.append(user)
        try:
            await end.wait()
        finally:
            self.holding.remove((user, end))
            free()

    def end_first(self) -> None:
        self.holding[0][1].set()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_user_with_much_work_leaves_slots_to_others() -> None:
    workers = Workers(FairSlots(places=4, each=2))
    for _ in range(24):
        workers.start(1)
    await settle()
    assert workers.begun == [1, 1]
    workers.start(2)
    await settle()
    assert workers.begun == [1, 1, 2]
    for task in workers.tasks:
        task.cancel()
    await asyncio.gather(*workers.tasks, return_exceptions=True)


async def test_users_who_wait_take_turns() -> None:
    workers = Workers(FairSlots(places=1, each=1))
    for user in (1, 1, 1, 1, 2, 2, 3):
        workers.start(user)
        await settle()
    while workers.holding:
        workers.end_first()
        await settle()
    assert workers.begun == [1, 1, 2, 3, 1, 2, 1]


@given(st.lists(st.tuples(st.sampled_from(["start", "end", "cancel"]), st.integers(0, 3)), max_size=60))
def test_no_slot_is_lost_and_none_is_given_twice(steps: list[tuple[str, int]]) -> None:
    async def run() -> None:
        workers = Workers(FairSlots(places=3, each=2))
        for step, number in steps:
            if step == "start":
                workers.start(number)
            elif step == "end" and workers.holding:
                workers.end_first()
            elif step == "cancel" and workers.tasks:
                workers.tasks[number % len(workers.tasks)].cancel()
            if number % 2:
                await settle()
            held = Counter(user for user, _ in workers.holding)
            assert held.total() <= 3
            assert max(held.values(), default=0) <= 2
        await settle()
        while workers.holding:
            workers.end_first()
            await settle()
        assert all(task.done() for task in workers.tasks)

    asyncio.run(run())


async def test_a_query_that_is_given_up_keeps_its_slot_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_thread, "_QUERIES", LoopSlots(places=2, each=1))
    monkeypatch.setattr(in_thread, "with_connection", lambda query: query())
    goes_on, begun = threading.Event(), threading.Event()
    first = asyncio.create_task(in_thread.query_in_thread(partial(goes_on.wait, 10)))
    await settle()
    first.cancel()
    second = asyncio.create_task(in_thread.query_in_thread(begun.set))
    await asyncio.wait({first})
    await settle()
    assert not begun.is_set()
    goes_on.set()
    await second
    assert begun.is_set()
