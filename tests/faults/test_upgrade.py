"""An earlier version is upgraded while it answers: its processes go on beside the migrated database and the new ones."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests import last_release
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]

OLD_WORKERS = ("llm.1", "llm.2")
NEW_WORKERS = ("llm.3", "llm.4")
IN_FLIGHT = 8
APPLIED = "SELECT name FROM django_migrations"


class Upgrade:
    """Two versions with one database, one Redis and one address.

    cluster: the processes of the version before.  new: those of this one.
    """

    def __init__(self, services: Services, upstream: Upstream, searching: SearchServer, before: Path) -> None:
        old = Stack(services, upstream, searching, code=before)
        self.new = Stack(services, upstream, searching)
        self.new.environment["PORT"] = str(old.port)
        self.new.base_url = old.base_url
        self.cluster = Cluster(services, old)
        with psycopg.connect(services.postgres.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE upgraded")
        # Another than the one whose copies are migrated already.
        self.cluster.database_url = urlsplit(services.postgres.url)._replace(path="/upgraded").geturl()
        for stack in (old, self.new):
            stack.environment.update({"DATABASE_URL": self.cluster.database_url, "DRAIN_GRACE": "0"})

    def begin(self) -> None:
        old = self.cluster.stack
        old.start("web")
        old.start("sweeper")
        for name in OLD_WORKERS:
            old.start("llm", name)
        old.wait_until_ready()
        self.cluster.wait_for_workers(len(OLD_WORKERS))

    def replace(self, name: str) -> None:
        """End a process of the version before, and start that of this one."""
        self.cluster.stack.end(name)
        self.new.start(name)

    def roll_back(self) -> None:
        """End the processes of this version, and start again those of the version before."""
        for name in tuple(self.new.processes):
            self.new.end(name)
        self.begin()

    def stop(self) -> None:
        self.cluster.kill(*self.cluster.stack.processes)
        self.new.stop()


@pytest.fixture
def upgrade(tmp_path: Path) -> Iterator[Upgrade]:
    before = last_release.unpack(tmp_path / "before")
    services = Services().start()
    with Upstream() as upstream, SearchServer() as searching:
        upgrade = Upgrade(services, upstream, searching, before)
        try:
            upgrade.cluster.stack.prepare()
            upgrade.begin()
            yield upgrade
        finally:
            upgrade.stop()
            services.stop()


@pytest.fixture
def cluster(upgrade: Upgrade) -> Cluster:
    return upgrade.cluster


async def test_answers_of_the_version_before_are_finished_by_this_one(
    upgrade: Upgrade, scenario: Scenario
) -> None:
    upstream, new = scenario.upstream, upgrade.new
    upstream.reply({"text": "Short."}, contains="Meanwhile")
    upstream.reply({"words": 20, "every_s": 0.02}, {"wait": "the upgrade"}, {"words": 20})
    begun = await scenario.ask_many(IN_FLIGHT)
    for question in begun:
        await question.showing("19 ")

    applied = len(upgrade.cluster.rows(APPLIED))
    await asyncio.to_thread(new.manage, "migrate", "-v", "0")
    assert len(upgrade.cluster.rows(APPLIED)) > applied
    await expect_short(scenario, "old processes, new tables")

    for name in NEW_WORKERS:
        new.start("llm", name)
    await asyncio.to_thread(upgrade.cluster.wait_for_workers, 4)
    for question in await scenario.ask_many(IN_FLIGHT, text="Meanwhile"):
        assert (await question.ended()).text == "Short."
    for name in OLD_WORKERS:
        scenario.record_fault()
        await asyncio.to_thread(upgrade.cluster.stack.end, name)
    await expect_short(scenario, "old web, new workers")

    scenario.record_fault()
    await asyncio.to_thread(new.manage, "collectstatic", "--noinput", "-v", "0")
    for name in ("web", "sweeper"):
        await asyncio.to_thread(upgrade.replace, name)
    await asyncio.to_thread(new.wait_until_ready)
    await expect_short(scenario, "new processes alone")
    upstream.release("the upgrade")
    for question in begun:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(20) + words(20), "finished")

    await asyncio.to_thread(upgrade.roll_back)
    await expect_short(scenario, "old processes again")
    report = await scenario.check()
    assert report.figures["failures"] == 0
    record("F32", f"{IN_FLIGHT} answers over an upgrade: to next packet", report.figures["takeover"])


async def expect_short(scenario: Scenario, state: str) -> None:
    question = await scenario.ask(f"Meanwhile, {state}")
    assert (await question.ended()).text == "Short.", state
