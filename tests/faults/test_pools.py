"""Three pools of workers on three hosts: the workers page and the metrics say who serves what, and a pool may go."""

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from chat.metrics.presence import FRESH_S
from tests.faults import other_host
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words
from tests.stack import procfile

pytestmark = [
    pytest.mark.fault,
    pytest.mark.timeout(240),
    pytest.mark.skipif(
        not other_host.may_make_namespaces(), reason="only who may make namespaces has other hosts"
    ),
]

POOLS = {"host-a": "alpha", "host-b": "beta", "host-c": "gamma"}
"""The host and the model of each pool; its queue has the name of the model."""
LLM_ROW = re.compile(
    r"<tr><td>llm</td><td>(?P<host>[\w-]+)</td>.*?</td><td>[^<]*</td><td>(?P<queues>[^<]*)</td>.*?"
    r'<span class="status \w+">(?P<state>[^<]*)</span>'
)


class Pool(NamedTuple):
    """As /metrics has it. waiting: runs that wait for a worker."""

    workers: float = 0
    busy: float = 0
    draining: float = 0
    waiting: float = 0


class Operator:
    """Somebody of the staff who reads the metrics and the workers page."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def pool(self, queue: str) -> Pool:
        answer = await self._http.get("/metrics")
        values = {
            sample.name: sample.value
            for family in text_string_to_metric_families(answer.raise_for_status().text)
            for sample in family.samples
            if sample.labels == {"queue": queue}
        }
        names = [f"turnwire_queue_{name}" for name in Pool._fields[:-1]]
        return Pool(*(values.get(name, 0) for name in (*names, "turnwire_queued_runs")))

    async def workers(self) -> list[tuple[str, str, str]]:
        """The workers of the page: host, queues, state."""
        answer = await self._http.get("/admin/workers/")
        return sorted(match.groups() for match in LLM_ROW.finditer(answer.raise_for_status().text))

    async def await_pool(self, queue: str, expected: Pool, limit_s: float = 60) -> float:
        """Wait until the metrics say this; return after how many seconds they do."""
        began, seen = time.monotonic(), None
        while (seen := await self.pool(queue)) != expected:
            assert time.monotonic() - began < limit_s, f"{queue}: {seen} instead of {expected}"
            await asyncio.sleep(0.05)
        return time.monotonic() - began


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    own_cluster.restore([])
    own_cluster.rows(
        "UPDATE chat_modelconfig SET queue = name WHERE name = ANY(%s) RETURNING 1", [*POOLS.values()]
    )
    return own_cluster


@pytest.fixture
async def operator(cluster: Cluster) -> AsyncIterator[Operator]:
    async with httpx2.AsyncClient(base_url=cluster.stack.base_url, timeout=30, trust_env=False) as http:
        await http.get("/login/")
        fields = {"username": "root", "password": "root", "csrfmiddlewaretoken": http.cookies["csrftoken"]}
        await http.post("/login/", data=fields, headers={"Referer": cluster.stack.base_url})
        yield Operator(http)


class Hosts:
    def __init__(self, cluster: Cluster, folder: Path, ports: list[int]) -> None:
        self._cluster = cluster
        self._folder = folder
        self._ports = ports

    def start(self, name: str, host: str, *queues: str) -> None:
        """Start a worker with this name on the host."""
        line = other_host.command_on(host, self._folder, self._ports, procfile()["llm"])
        self._cluster.stack.start(line, name, {"LLM_QUEUES": ",".join(queues), "DRAIN_GRACE": "5"})


@pytest.fixture
async def hosts(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Hosts]:
    addresses = (cluster.redis_url, cluster.upstream.base_url, cluster.searching.url)
    ports = [urlsplit(address).port or 0 for address in addresses]
    async with other_host.forwarded(tmp_path, ports):
        yield Hosts(cluster, tmp_path, ports)
        cluster.kill(*(name for name in list(cluster.stack.processes) if name.startswith("pool.")))


async def test_pools_are_seen_and_one_is_drained_and_removed_while_it_answers(
    cluster: Cluster, scenario: Scenario, operator: Operator, hosts: Hosts
) -> None:
    for host, queue in POOLS.items():
        hosts.start(f"pool.{queue}", host, queue)
        await operator.await_pool(queue, Pool(workers=1))
    assert await operator.workers() == [(host, queue, "lives") for host, queue in POOLS.items()]

    cluster.upstream.reply({"words": 20, "every_s": 0.02}, {"wait": "the pool is gone"}, {"words": 20})
    questions = {queue: await scenario.ask(models=[queue]) for queue in POOLS.values()}
    for queue, question in questions.items():
        await question.showing("19 ")
        record("F33", "a run: to its pool in the metrics", await operator.await_pool(queue, Pool(1, busy=1)))

    scenario.record_fault()
    cluster.stack.signal("pool.beta", signal.SIGTERM)
    record("F33", "SIGTERM: to a pool that drains", await operator.await_pool("beta", Pool(draining=1)))
    assert ("host-b", "beta", "ending") in await operator.workers()
    assert await asyncio.to_thread(cluster.wait_for_exit, "pool.beta") == 0
    record("F33", "exit: to a pool without workers", await operator.await_pool("beta", Pool(waiting=1)))
    assert await operator.workers() == [("host-a", "alpha", "lives"), ("host-c", "gamma", "lives")]

    hosts.start("pool.more", "host-c", "beta")
    cluster.upstream.release("the pool is gone")
    for question in questions.values():
        assert (await question.ended()).text == words(20) + words(20)
    await operator.await_pool("beta", Pool(workers=1))
    assert ("host-c", "beta", "lives") in await operator.workers()
    report = await scenario.check()
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 4)


async def test_a_host_that_is_gone_takes_no_part_any_more(
    cluster: Cluster, operator: Operator, hosts: Hosts
) -> None:
    hosts.start("pool.alpha", "host-a", "alpha")
    await operator.await_pool("alpha", Pool(workers=1))
    cluster.kill("pool.alpha")
    seconds = await operator.await_pool("alpha", Pool())
    record("F33", "SIGKILL: to a pool without workers", seconds)
    assert seconds < 2 * FRESH_S
