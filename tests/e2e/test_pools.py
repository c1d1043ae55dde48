"""A model whose row names a queue is answered by the workers of that queue, and by no others."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.client import Client
from tests.process_reaper import end_with_this_process
from tests.stack import ROOT, Stack

pytestmark = pytest.mark.e2e


@contextmanager
def pool(stack: Stack) -> Iterator[None]:
    """A worker of the queue `slow`, started as docs/operations.md says."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if "-Q slow -n" in line)
    command = line.removeprefix("LLM_CONCURRENCY=50 ")
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
        with pool(stack):
            assert (await socket.ended(giant)).stop_reason == "finished"
