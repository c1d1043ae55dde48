"""A model whose row names a queue is answered by the workers of that queue, and by no others."""

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.e2e.client import Client
from tests.process_reaper import end_with_this_process
from tests.stack import ROOT, Stack

pytestmark = pytest.mark.e2e


@contextmanager
def pool(stack: Stack) -> Iterator[None]:
    """A worker of the queue `slow`, started as docs/operations.md says."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if "--queues slow" in line)
    # As in a clone: the command is installed by pip.
    python = shlex.quote(sys.executable)
    command = line.removeprefix("LLM_CONCURRENCY=50 ").replace("turnwire", f"{python} turnwire.py", 1)
    with (stack.directory / "slow.log").open("ab") as log:
        worker = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            cwd=ROOT, env=stack.environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    end_with_this_process(worker)
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(60)


async def test_a_model_with_a_queue_of_its_own_waits_for_its_own_workers(stack: Stack) -> None:
    make = (
        "from chat.models import ModelConfig; ModelConfig.objects.get_or_create(name='giant', queue='slow')"
    )
    await asyncio.to_thread(stack.manage, "shell", "-v", "0", "-c", make)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Who answers?", models=["giant", "alpha"])
        giant, alpha = (run["id"] for run in turn["runs"])
        assert (await socket.ended(alpha)).stop_reason == "finished"
        assert (await alice.call("GET", f"runs/{giant}/"))["status"] == "queued"
        await until_told(stack, {"workers": 0, "queued_runs": 1})
        with pool(stack):
            assert (await socket.ended(giant)).stop_reason == "finished"
            await until_told(stack, {"workers": 1, "slots": 50, "busy": 0, "draining": 0, "queued_runs": 0})
        await until_told(stack, {"workers": 0, "slots": 0})


def queue_gauge(stack: Stack, name: str) -> float | None:
    """Of the queue `slow`, as /metrics tells it; None: nobody says anything of it."""
    with httpx2.Client(base_url=stack.base_url, trust_env=False) as browser:
        found = re.search(
            rf'^turnwire_(?:queue_)?{name}{{queue="slow"}} (\S+)$', browser.get("/metrics").text, re.MULTILINE
        )
    return float(found[1]) if found else None


async def until_told(stack: Stack, expected: dict[str, float | None]) -> None:
    async with asyncio.timeout(30):
        while {name: await asyncio.to_thread(queue_gauge, stack, name) for name in expected} != expected:  # noqa: ASYNC110  asks another process
            await asyncio.sleep(0.2)
