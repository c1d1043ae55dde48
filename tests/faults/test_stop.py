"""Stopping at every moment: F21. One terminal status, the upstream closed, and what was shown is what is saved."""

import asyncio
import time

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

MOMENTS = {
    "before the first token": [{"silent": True}],
    "in a silence": [{"text": "Once "}, {"hang": True}],
    "while a token comes every 5 ms": [{"words": 100_000, "every_s": 0.005}],
}


async def stopped(scenario: Scenario, question: WatchedTurn) -> None:
    """Ask for the stop and see it: everywhere the same."""
    await scenario.stop(question.run)
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    assert view.kinds.count("stop") == 1
    _, answer = await scenario.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_stop_while_the_upstream_talks_or_does_not(
    cluster: Cluster, scenario: Scenario, moment: str
) -> None:
    cluster.upstream.reply(*MOMENTS[moment])
    for number in range(20):
        question = await scenario.ask()
        await asyncio.to_thread(cluster.upstream.wait_for_requests, number + 1)
        if moment != "before the first token":
            await question.showing(" ")
        await stopped(scenario, question)
    report = await scenario.check()
    assert {call.ended for call in cluster.upstream.requests} == {"disconnected"}
    record("F21", f"stop {moment}: asked to `stop` packet", report.figures["stop"])


@pytest.mark.usefixtures("without_workers")
async def test_a_stop_before_any_worker_has_claimed_it(cluster: Cluster, scenario: Scenario) -> None:
    questions = await scenario.ask_many(5)
    for question in questions:
        await stopped(scenario, question)
    cluster.worker("llm.1")
    assert (await (await scenario.ask("Another")).ended()).stop_reason == "finished"
    report = await scenario.check()
    assert len(cluster.upstream.requests) == 1
    record("F21", "stop before the claim: asked to `stop` packet", report.figures["stop"])


@pytest.mark.core
async def test_ten_clicks_are_one_stop(cluster: Cluster, scenario: Scenario) -> None:
    cluster.upstream.reply({"words": 100_000, "every_s": 0.005})
    question = await scenario.ask()
    await question.showing("20 ")
    await asyncio.gather(*(scenario.stop(question.run) for _ in range(10)))
    assert (await question.ended()).kinds.count("stop") == 1
    await scenario.check()
    # The end is said once, and a late click hears how it was.
    again = await scenario.client.call("POST", f"runs/{question.run}/cancellation/", json={})
    assert again == {"status": "stopped"}
    assert len(question.watcher.of_type("overall_stop")) == 1


async def test_a_stop_after_the_end_changes_nothing(cluster: Cluster, scenario: Scenario) -> None:
    question = await scenario.ask()
    await question.ended()
    again = await scenario.client.call("POST", f"runs/{question.run}/cancellation/", json={})
    assert again == {"status": "completed"}
    await scenario.check()


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
async def test_a_stop_at_the_final_write_still_has_one_outcome(cluster: Cluster, scenario: Scenario) -> None:
    cluster.worker("llm.slow", FAULT_POINTS="before_finish=stop")
    question = await scenario.ask()
    await asyncio.to_thread(cluster.wait_until, lambda: is_frozen(cluster, "llm.slow"), "the final write")
    await scenario.stop(question.run)
    cluster.resume("llm.slow")
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    await scenario.check()
    _, answer = await scenario.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)


def is_frozen(cluster: Cluster, name: str) -> bool:
    with open(f"/proc/{cluster.stack.processes[name].pid}/stat", encoding="utf-8") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()[0] == "T"


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
async def test_a_stop_while_its_worker_is_dead(cluster: Cluster, scenario: Scenario) -> None:
    cluster.upstream.reply({"text": "Once "}, {"hang": True})
    for _ in range(3):
        cluster.worker("llm.1")
        question = await scenario.ask()
        await question.showing("Once ")
        cluster.kill("llm.1")
        asked_at = time.monotonic()
        await stopped(scenario, question)
        record("F21", "stop with the worker dead: asked to `stop` packet", time.monotonic() - asked_at)
    await scenario.check()
