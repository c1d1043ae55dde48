"""The web process of a launched instance is killed in the middle of an answer (fault F15)."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.faults.history import History, check, load
from tests.faults.measurements import record
from tests.faults.scenario import words
from tests.faults.watcher import Watcher
from tests.instance import LaunchedInstance
from tests.upstream import Upstream

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def instance(tmp_path: Path, upstream: Upstream) -> Iterator[LaunchedInstance]:
    instance = LaunchedInstance(tmp_path, LLM_BASE_URL=upstream.base_url, LLM_MODELS="alpha").start()
    yield instance
    instance.stop()


async def test_the_answer_goes_on_while_web_is_replaced_at_the_same_address(
    instance: LaunchedInstance, upstream: Upstream
) -> None:
    upstream.reply({"words": 100, "every_s": 0.01}, {"wait": "web"}, {"words": 100, "every_s": 0.01})
    async with Client.login(instance.address, "demo", "demo") as demo:
        session = await demo.new_session()
        watcher = Watcher(demo, session["id"], "tab")
        await watcher.start()
        turn = await demo.ask(session, "Count")
        run = turn["runs"][0]["id"]
        await watcher.showing(run, "99 ")
        killed_at = time.monotonic()
        for process in instance.children("uvicorn"):
            os.kill(process.pid, signal.SIGKILL)
        await watcher.until(lambda: len(watcher.log.sockets) > 1 and watcher.socket, "web is back")
        record("F15", "make run, kill -9 of web: to subscribed again", time.monotonic() - killed_at)
        upstream.release("web")
        view = await watcher.ended(run)
        assert (view.attempt, view.text) == (1, words(100) * 2)
        await watcher.until(lambda: turn["turn"] in watcher.stopped_turns, "overall_stop")
        assert (await demo.branch(session))[-1]["text"] == words(100) * 2
        await watcher.stop()
    database = load(instance.stored_environment()["DATABASE_URL"], [session["id"]])
    report = check(History([watcher.log], database, upstream.requests, accepted=[turn]))
    report.raise_if_violated()
    assert len(upstream.requests) == 1
