"""All workers are restarted in turn, again and again, during a hundred answers.

ROLLING_EVERY_S (15): from the beginning of one rolling restart to the next; a deployment would take 30 or more.
ROLLING_TIMES (2): how many.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.faults.cluster import WORKERS, Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words

EVERY_S = float(os.environ.get("ROLLING_EVERY_S", "15"))
TIMES = int(os.environ.get("ROLLING_TIMES", "2"))
RUNS = 100
WORD_EVERY_S = 0.1
# An answer that is handed over begins again: each streams from one restart to the next.
WORDS = int(EVERY_S / WORD_EVERY_S)

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240 + EVERY_S * TIMES)]


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    # While one of them is away, the other has room for all; full, it would not be seen to consume.
    with Cluster.running(MAX_RUNS_PER_USER=str(RUNS), LLM_CONCURRENCY=str(RUNS + 20)) as cluster:
        yield cluster


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    own_cluster.restore()
    return own_cluster


async def test_a_hundred_answers_survive_rolling_restarts_of_all_workers(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.upstream.reply({"words": WORDS, "every_s": WORD_EVERY_S}, {"wait": "the last"}, {"words": 20})
    questions = await scenario.ask_many(RUNS)
    for question in questions:
        await question.showing("10 ")
    began_at = time.monotonic()
    for number in range(TIMES):
        await asyncio.sleep(max(0.0, began_at + number * EVERY_S - time.monotonic()))
        restarted_at = time.monotonic()
        for name in WORKERS:
            await restart(cluster, scenario, name)
        record("F6", f"{len(WORKERS)} workers restarted in turn", time.monotonic() - restarted_at)
    assert not any(question.view.stop_reason for question in questions)
    cluster.upstream.release("the last")
    released_at = time.monotonic()
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(WORDS) + words(20), "finished")
    record("F6", f"{RUNS} answers: last restart to the last end", time.monotonic() - released_at)
    report = await scenario.check()
    assert report.figures["runs"] == {"completed": RUNS}
    # Handed over every time, never taken from the dead.
    assert report.figures["failures"] == 0
    assert report.figures["attempts"] > RUNS
    record(
        "F6", f"{TIMES} rolling restarts, {EVERY_S:.0f} s apart: to next packet", report.figures["takeover"]
    )
    print(f"{RUNS} answers, rolling restarts every {EVERY_S:.0f} s, {TIMES} times:\n{report}")


async def restart(cluster: Cluster, scenario: Scenario, name: str) -> None:
    """As a process manager does: told to leave, gone, its successor there, and only then the next."""
    scenario.record_fault()
    cluster.stack.signal(name, signal.SIGTERM)
    assert await asyncio.to_thread(cluster.wait_for_exit, name) == 0
    cluster.worker(name)
    await asyncio.to_thread(cluster.wait_for_workers, len(WORKERS))
