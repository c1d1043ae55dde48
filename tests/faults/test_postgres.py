"""F14: Postgres restarts while answers stream."""

import asyncio
import signal
import time

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    own_cluster.restore()
    return own_cluster


@pytest.mark.parametrize(
    ("after", "outage_s"),
    [
        pytest.param(200, 0, id="answers go on after it"),
        pytest.param(30, 3, id="answers end while it is away", marks=pytest.mark.core),
    ],
)
async def test_answers_are_saved_though_postgres_restarted(
    cluster: Cluster, scenario: Scenario, after: int, outage_s: float
) -> None:
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"words": after, "every_s": 0.03})
    questions = await scenario.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    services = cluster.services
    scenario.record_fault()
    await asyncio.to_thread(services.end, services.postgres, signal.SIGINT)
    await asyncio.sleep(outage_s)
    await asyncio.to_thread(services.launch, services.postgres)
    await asyncio.to_thread(services.wait_for, services.postgres)
    back_at = time.monotonic()
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(50) + words(after), "finished")
    if outage_s:
        record("F14", "Postgres back: to the end of the last answer", time.monotonic() - back_at)
    report = await scenario.check()
    # No worker was declared dead: the advisory locks were lost with their connections, which proves nothing.
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 10)
    record("F14", "Postgres restarted: longest silence of a client", report.figures["longest silence"])
    assert (await (await scenario.ask("And now?")).ended()).stop_reason == "finished"
    await scenario.check()
