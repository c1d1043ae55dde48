"""F26: a worker's wall clock jumps by an hour, forwards or backwards, while answers stream."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

# sitecustomize, imported at interpreter start. A thread reads the shift, so that the jump happens without a call.
JUMPING_CLOCK = """
import pathlib, threading, time
import datetime
import django.utils.timezone as timezone

shift, real_time, real_now = [0.0], time.time, timezone.now

def follow(path=pathlib.Path(__file__).with_name("shift_s")):
    while True:
        if path.exists():
            shift[0] = float(path.read_text() or 0)
        time.sleep(0.05)

threading.Thread(target=follow, daemon=True).start()
time.time = lambda: real_time() + shift[0]
time.time_ns = lambda: int(time.time() * 1e9)
timezone.now = lambda: real_now() + datetime.timedelta(seconds=shift[0])
"""


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("shift_s", [pytest.param(3600, marks=pytest.mark.core), -3600])
async def test_a_wall_clock_that_jumps_changes_nothing(
    cluster: Cluster, scenario: Scenario, tmp_path: Path, shift_s: int
) -> None:
    (tmp_path / "sitecustomize.py").write_text(JUMPING_CLOCK)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    cluster.worker("llm.jumping", PYTHONPATH=path.rstrip(os.pathsep))
    cluster.upstream.reply(
        {"words": 20, "every_s": 0.01}, {"wait": "the jump"}, {"words": 150, "every_s": 0.03}
    )
    questions = await scenario.ask_many(5)
    for question in questions:
        await question.showing("19 ")
    # A second worker, which could take the runs over.
    cluster.worker("llm.1")
    await asyncio.to_thread(cluster.wait_for_workers, 2)
    (tmp_path / "shift_s").write_text(str(shift_s))
    await asyncio.sleep(0.2)
    cluster.upstream.release("the jump")
    for question in questions:
        view = await question.ended()
        assert (view.attempt, view.text) == (1, words(20) + words(150))
    # Runs that start after the jump.
    for question in await scenario.ask_many(10):
        assert (await question.ended()).stop_reason == "finished"
    report = await scenario.check()
    assert (report.figures["failures"], report.figures["attempts"]) == (0, 15)
