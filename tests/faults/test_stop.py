"""Stopping at every moment: F21. One terminal status, the upstream closed, and what was shown is what is saved."""

import asyncio
import time

import pytest

from tests.faults.arena import Arena
from tests.faults.measured import record
from tests.faults.scene import Asked, Scene

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

MOMENTS = {
    "before the first token": [{"silent": True}],
    "in a silence": [{"text": "Once "}, {"hang": True}],
    "while a token comes every 5 ms": [{"words": 100_000, "every_s": 0.005}],
}


async def stopped(scene: Scene, question: Asked) -> None:
    """Ask for the stop and see it: everywhere the same."""
    await scene.stop(question.run)
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    assert view.kinds.count("stop") == 1
    _, answer = await scene.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_stop_while_the_upstream_talks_or_does_not(arena: Arena, scene: Scene, moment: str) -> None:
    arena.upstream.reply(*MOMENTS[moment])
    for number in range(20):
        question = await scene.ask()
        await asyncio.to_thread(arena.upstream.wait_for_requests, number + 1)
        if moment != "before the first token":
            await question.showing(" ")
        await stopped(scene, question)
    report = await scene.judge()
    assert {call.ended for call in arena.upstream.requests} == {"disconnected"}
    record("F21", f"stop {moment}: asked to `stop` packet", report.figures["stop"])


@pytest.mark.usefixtures("without_workers")
async def test_a_stop_before_any_worker_has_claimed_it(arena: Arena, scene: Scene) -> None:
    questions = await scene.ask_many(5)
    for question in questions:
        await stopped(scene, question)
    arena.worker("llm.1")
    assert (await (await scene.ask("Another")).ended()).stop_reason == "finished"
    report = await scene.judge()
    assert len(arena.upstream.requests) == 1
    record("F21", "stop before the claim: asked to `stop` packet", report.figures["stop"])


async def test_ten_clicks_are_one_stop(arena: Arena, scene: Scene) -> None:
    arena.upstream.reply({"words": 100_000, "every_s": 0.005})
    question = await scene.ask()
    await question.showing("20 ")
    await asyncio.gather(*(scene.stop(question.run) for _ in range(10)))
    assert (await question.ended()).kinds.count("stop") == 1
    await scene.judge()
    # The end is said once, and a late click hears how it was.
    again = await scene.client.call("POST", f"runs/{question.run}/cancellation/", json={})
    assert again == {"status": "stopped"}
    assert len(question.watcher.of_type("overall_stop")) == 1


async def test_a_stop_after_the_end_changes_nothing(arena: Arena, scene: Scene) -> None:
    question = await scene.ask()
    await question.ended()
    again = await scene.client.call("POST", f"runs/{question.run}/cancellation/", json={})
    assert again == {"status": "completed"}
    await scene.judge()


@pytest.mark.usefixtures("without_workers")
async def test_a_stop_at_the_final_write_still_has_one_outcome(arena: Arena, scene: Scene) -> None:
    arena.worker("llm.slow", FAULT_POINTS="before_finish=stop")
    question = await scene.ask()
    await asyncio.to_thread(arena.wait_until, lambda: is_frozen(arena, "llm.slow"), "the final write")
    await scene.stop(question.run)
    arena.resume("llm.slow")
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    await scene.judge()
    _, answer = await scene.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)


def is_frozen(arena: Arena, name: str) -> bool:
    with open(f"/proc/{arena.stack.processes[name].pid}/stat", encoding="utf-8") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()[0] == "T"


@pytest.mark.usefixtures("without_workers")
async def test_a_stop_while_its_worker_is_dead(arena: Arena, scene: Scene) -> None:
    arena.upstream.reply({"text": "Once "}, {"hang": True})
    for _ in range(3):
        arena.worker("llm.1")
        question = await scene.ask()
        await question.showing("Once ")
        arena.kill("llm.1")
        asked_at = time.monotonic()
        await stopped(scene, question)
        record("F21", "stop with the worker dead: asked to `stop` packet", time.monotonic() - asked_at)
    await scene.judge()
