"""F14: Postgres restarts, or accepts no writes, while answers stream."""

import asyncio
import signal
import time

import psutil
import psycopg
import pytest

from tests.faults.cluster import Cluster, until
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words
from tests.faults.uploader import Uploader

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


@pytest.mark.parametrize(
    "outage_s",
    [pytest.param(3, id="shorter than a lease", marks=pytest.mark.core), pytest.param(14, id="longer")],
)
async def test_answers_are_saved_though_postgres_accepted_no_writes(
    cluster: Cluster, scenario: Scenario, outage_s: float
) -> None:
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"words": 60, "every_s": 0.03})
    questions = await scenario.ask_many(10)
    for question in questions:
        await question.showing("49 ")
    logged = {name: len(cluster.stack.log(name)) for name in cluster.stack.processes}
    scenario.record_fault()
    await asyncio.to_thread(set_read_only, cluster, "on")
    await asyncio.sleep(outage_s)
    ready = await scenario.client.http.get("/health/ready")
    assert (ready.status_code, ready.json()["postgres"]) == (503, "read_only")
    refused = await scenario.client.http.post("/api/sessions/", json={})
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    await asyncio.to_thread(set_read_only, cluster, "off")
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(50) + words(60), "finished")
    report = await scenario.check()
    assert report.figures["failures"] == 0
    for name, length in logged.items():
        log = cluster.stack.log(name)[length:]
        assert log.count("Postgres is read-only") <= 1
        assert "Traceback" not in log
    assert (await (await scenario.ask("And now?")).ended()).stop_reason == "finished"


async def test_a_file_whose_end_postgres_refused_is_read_again_and_counts_no_failure(
    cluster: Cluster,
) -> None:
    cluster.stack.start("ingest", environment={"FAULT_POINTS": "before_file_end=stop"})
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        pk = await uploader.upload("tides.txt", b"Two tides a day.")
        [reading] = await until(lambda: stopped(cluster))
        await asyncio.to_thread(set_read_only, cluster, "on")
        reading.resume()
        await until(lambda: "read again when Postgres is back" in cluster.stack.log("ingest"))
        await asyncio.to_thread(set_read_only, cluster, "off")
        [reading] = await until(lambda: stopped(cluster))
        reading.resume()
        assert (await uploader.ended(pk))["status"] == "ready"
    assert cluster.rows("SELECT failures FROM knowledge_file WHERE id = %s", pk) == [(0,)]


def stopped(cluster: Cluster) -> list[psutil.Process]:
    """The process of the ingest pool that waits at a fault point."""
    pool = psutil.Process(cluster.stack.processes["ingest"].pid).children()
    return [process for process in pool if process.status() == psutil.STATUS_STOPPED]


def set_read_only(cluster: Cluster, value: str) -> None:
    """Turn it on or off for the transactions that begin from then on, also of connections that exist."""
    with psycopg.connect(cluster.database_url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        connection.execute("SELECT pg_reload_conf()")
