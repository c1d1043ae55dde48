"""Workers are killed, frozen, cut off, told to leave: F1, F3, F4, F6, F7, F8."""

import asyncio
import signal
import time
from collections.abc import Iterator

import pytest

from chat.infrastructure.fault_points import Point
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.proxy import Proxy
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
async def test_twenty_answers_survive_the_kill_of_their_worker(cluster: Cluster, scenario: Scenario) -> None:
    cluster.worker("llm.1")
    cluster.upstream.reply({"words": 30}, {"wait": "another worker"}, {"words": 150, "every_s": 0.03})
    questions = await scenario.ask_many(20)
    for question in questions:
        await question.showing("29 ")
    cluster.worker("llm.2")
    await asyncio.to_thread(cluster.wait_for_workers, 2)
    cluster.upstream.release("another worker")
    for question in questions:
        await question.showing("29 0 1 ")
    scenario.record_fault()
    cluster.kill("llm.1")
    for question in questions:
        assert (await question.ended()).text == words(30) + words(150)
    report = await scenario.check()
    assert report.figures["resets"] == 20
    record("F1", "kill -9 with 20 runs: fault to first new packet", report.figures["takeover"])


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize(
    ("point", "most_calls"),
    [
        ("after_claim", 1),
        ("after_append", 2),
        ("after_checkpoint", 2),
        pytest.param("before_finish", 2, marks=pytest.mark.core),
        pytest.param("after_finish", 1, marks=pytest.mark.core),
        ("before_announce", 1),
        ("after_announce", 1),
    ],
)
async def test_a_worker_killed_at_any_point_leaves_one_complete_answer(
    cluster: Cluster, scenario: Scenario, point: Point, most_calls: int
) -> None:
    cluster.worker("llm.doomed", FAULT_POINTS=f"{point}=kill")
    # Longer than the time between two checkpoints.
    cluster.upstream.reply({"words": 100, "every_s": 0.03})
    question = await scenario.ask()
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    scenario.record_fault()
    cluster.worker("llm.1")
    view = await question.ended()
    assert (view.text, view.stop_reason) == (words(100), "finished")
    await scenario.check()
    record(
        "F3" if most_calls == 2 else "F4",
        f"killed {point}: to the end of the answer",
        since_fault_s(scenario),
    )
    assert 1 <= len(cluster.upstream.requests) <= most_calls


def since_fault_s(scenario: Scenario) -> float:
    """From the fault to now."""
    return time.monotonic() - scenario.faults[-1]


@pytest.fixture
def cut_cable(cluster: Cluster) -> Iterator[tuple[Proxy, Proxy]]:
    with Proxy.before(cluster.database_url) as postgres, Proxy.before(cluster.redis_url) as valkey:
        yield postgres, valkey


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("how", [pytest.param("frozen", marks=pytest.mark.core), "cut off"])
async def test_a_worker_that_only_its_lease_tells_of_is_taken_over_and_then_refused(
    cluster: Cluster, scenario: Scenario, cut_cable: tuple[Proxy, Proxy], how: str
) -> None:
    postgres, valkey = cut_cable
    cluster.worker("llm.away", DATABASE_URL=postgres.url, REDIS_URL=valkey.url)
    cluster.upstream.reply({"words": 30, "every_s": 0.01}, {"wait": how}, {"words": 100, "every_s": 0.01})
    questions = await scenario.ask_many(20)
    for question in questions:
        await question.showing("29 ")
    cluster.worker("llm.1")
    await asyncio.to_thread(cluster.wait_for_workers, 2)
    scenario.record_fault()
    if how == "frozen":
        cluster.pause("llm.away")
    else:
        postgres.blackhole()
        valkey.blackhole()
    # The upstream talks on to both.
    cluster.upstream.release(how)
    for question in questions:
        assert (await question.ended()).text == words(30) + words(100)
    cluster.resume("llm.away")
    postgres.heal()
    valkey.heal()
    report = await scenario.check()
    record("F7", f"{how}: fault to first new packet", report.figures["takeover"])
    # The one that came back works again.
    cluster.kill("llm.1")
    assert (await (await scenario.ask()).ended()).stop_reason == "finished"
    await scenario.check()


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
async def test_a_question_that_kills_every_worker_fails_and_the_pool_lives(
    cluster: Cluster, scenario: Scenario
) -> None:
    question = await scenario.ask()
    scenario.record_fault()
    for number in range(3):
        cluster.worker(f"llm.doomed.{number}", FAULT_POINTS="after_claim=kill")
        await asyncio.to_thread(cluster.wait_for_exit, f"llm.doomed.{number}")
    assert (await question.ended()).stop_reason == "error"
    shown = question.watcher.of_type("snapshot")[-1]["message"]
    assert (shown["status"], shown["error"]["code"]) == ("failed", "worker_lost")
    record("F8", "first kill to the failure, with three starts", since_fault_s(scenario))
    stored = await scenario.client.call("GET", f"runs/{question.run}/")
    assert (stored["status"], stored["error"]["code"]) == ("failed", "worker_lost")
    cluster.worker("llm.1")
    assert (await (await scenario.ask()).ended()).stop_reason == "finished"
    await scenario.check()


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
async def test_a_worker_told_to_leave_hands_its_answers_over(cluster: Cluster, scenario: Scenario) -> None:
    cluster.worker("llm.1")
    # However long the other worker takes to start, the answers are not complete before this one leaves.
    left = {"wait": "the worker has left"}
    cluster.upstream.reply({"words": 20, "every_s": 0.03}, left, {"words": 180, "every_s": 0.01})
    questions = await scenario.ask_many(20)
    for question in questions:
        await question.showing("19 ")
    cluster.worker("llm.2")
    await asyncio.to_thread(cluster.wait_for_workers, 2)
    scenario.record_fault()
    cluster.stack.signal("llm.1", signal.SIGTERM)
    assert await asyncio.to_thread(cluster.wait_for_exit, "llm.1") == 0
    cluster.upstream.release("the worker has left")
    record("F6", "SIGTERM with 20 runs: to the end of the process", since_fault_s(scenario))
    for question in questions:
        assert (await question.ended()).text == words(20) + words(180)
    report = await scenario.check()
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 40)
    record("F6", "SIGTERM with 20 runs: to first new packet", report.figures["takeover"])
