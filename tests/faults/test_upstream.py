"""The upstream misbehaves: F22, F23. Bounded retries before the first token, partial text and an error after it."""

from typing import Any

import pytest

from tests.faults.arena import Arena
from tests.faults.scene import Scene

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]
LONG_LINE = 10 * 1024 * 1024


@pytest.mark.parametrize(
    ("script", "text"),
    [
        pytest.param([{"status": 429, "retry_after": 0}], "", id="429"),
        pytest.param([{"status": 500}], "", id="500"),
        pytest.param([{"finish": None}], "", id="empty"),
        pytest.param([{"eof": True}], "", id="end before the first token"),
        pytest.param([{"text": "Half "}, {"eof": True}], "Half ", id="end in the middle"),
        pytest.param([{"text": "Half "}, {"eof": "abort"}], "Half ", id="reset in the middle"),
        pytest.param([{"text": "Half "}, {"raw": "data: {broken\n\n"}], "Half ", id="malformed"),
        pytest.param([{"text": "Half "}, {"long_line": LONG_LINE}], "Half ", id="10 MB of one line"),
    ],
)
async def test_a_failing_upstream_ends_the_run_with_an_error_and_what_it_said(
    arena: Arena, scene: Scene, script: list[dict[str, Any]], text: str
) -> None:
    arena.upstream.reply(*script)
    question = await scene.ask()
    view = await question.ended()
    assert (view.text, view.stop_reason) == (text, "error")
    assert view.error is not None
    await scene.judge()
    assert 1 <= len(arena.upstream.requests) <= (1 if text else 5)


async def test_an_upstream_that_recovers_before_the_first_token_is_asked_again(
    arena: Arena, scene: Scene
) -> None:
    arena.upstream.reply({"status": 500}, times=1)
    arena.upstream.reply({"text": "All is well."})
    assert (await (await scene.ask()).ended()).text == "All is well."
    await scene.judge()


@pytest.mark.usefixtures("without_workers")
async def test_an_upstream_that_falls_silent_is_given_up(arena: Arena, scene: Scene) -> None:
    arena.worker("llm.impatient", LLM_SILENCE="2")
    arena.upstream.reply({"text": "Half "}, {"hang": True})
    view = await (await scene.ask()).ended()
    assert (view.text, view.stop_reason) == ("Half ", "error")
    await scene.judge()


async def test_one_of_three_models_fails_and_the_others_finish(arena: Arena, scene: Scene) -> None:
    arena.upstream.reply({"text": "one"}, model="alpha")
    arena.upstream.reply({"text": "Half "}, {"eof": True}, model="beta")
    arena.upstream.reply({"words": 50, "every_s": 0.01}, {"text": "three"}, model="gamma")
    question = await scene.ask(models=["alpha", "beta", "gamma"])
    alpha, beta, gamma = [await question.watcher.ended(run["id"]) for run in question.turn["runs"]]
    assert [view.stop_reason for view in (alpha, beta, gamma)] == ["finished", "error", "finished"]
    assert (alpha.text, beta.text) == ("one", "Half ")
    assert gamma.text.endswith("49 three")
    await scene.judge()
