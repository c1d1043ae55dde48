"""How far calls are, as readers are told."""

import asyncio
import math

import pytest

from llm_worker.loop.round_runner import MAX_TEXT_CHARACTERS, Progress, ProgressReports

pytestmark = pytest.mark.pure


class Screen:
    """shown: what readers were told.  changed: set with each."""

    def __init__(self):
        self.shown = []
        self.changed = asyncio.Event()

    def show(self, progress):
        self.shown.append(progress)
        self.changed.set()


async def test_the_first_report_is_shown_at_once_and_of_those_that_follow_soon_the_latest():
    screen = Screen()
    reports = ProgressReports(screen.show, interval_s=0.001)
    for step in range(4):
        reports.report(step, 3, f"step {step}")
    assert screen.shown == [Progress(0, 3, "step 0")]
    screen.changed.clear()
    await screen.changed.wait()
    assert screen.shown == [Progress(0, 3, "step 0"), Progress(3, 3, "step 3")]
    reports.close()


async def test_nothing_is_shown_of_a_call_that_has_ended():
    screen = Screen()
    reports = ProgressReports(screen.show, interval_s=0)
    reports.report(1, None, "")
    reports.report(2, None, "")
    reports.close()
    reports.report(3, None, "")
    for _ in range(3):
        await asyncio.sleep(0)
    assert screen.shown == [Progress(1, None, "")]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ((math.nan, 3, "a"), []),
        ((math.inf, None, "a"), []),
        ((1, math.nan, "a"), [Progress(1, None, "a")]),
        ((1, 0, "a"), [Progress(1, None, "a")]),
        ((1, 2, "two\n lines\x00"), [Progress(1, 2, "two lines\ufffd")]),
        ((1, 2, "x" * 1000), [Progress(1, 2, "x" * MAX_TEXT_CHARACTERS)]),
    ],
)
async def test_what_a_tool_says_is_made_fit_for_a_packet(told, shown):
    screen = Screen()
    reports = ProgressReports(screen.show)
    reports.report(*told)
    reports.close()
    assert screen.shown == shown
