"""The upstream misbehaves: F22, F23. Bounded retries before the first token, partial text and an error after it."""

from typing import Any

import pytest

from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario
from tests.stack import constants

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
        pytest.param(
            [{"text": "Half "}, {"eof": "abort"}], "Half ", id="reset in the middle", marks=pytest.mark.core
        ),
        pytest.param([{"text": "Half "}, {"raw": "data: {broken\n\n"}], "Half ", id="malformed"),
        pytest.param([{"text": "Half "}, {"long_line": LONG_LINE}], "Half ", id="10 MB of one line"),
    ],
)
async def test_a_failing_upstream_ends_the_run_with_an_error_and_what_it_said(
    cluster: Cluster, scenario: Scenario, script: list[dict[str, Any]], text: str
) -> None:
    cluster.upstream.reply(*script)
    question = await scenario.ask()
    view = await question.ended()
    assert (view.text, view.stop_reason) == (text, "error")
    assert view.error is not None
    await scenario.check()
    assert 1 <= len(cluster.upstream.requests) <= (1 if text else 5)


async def test_an_upstream_that_recovers_before_the_first_token_is_asked_again(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.upstream.reply({"status": 500}, times=1)
    cluster.upstream.reply({"text": "All is well."})
    assert (await (await scenario.ask()).ended()).text == "All is well."
    await scenario.check()


@pytest.mark.usefixtures("without_workers")
async def test_an_upstream_that_falls_silent_is_given_up(cluster: Cluster, scenario: Scenario) -> None:
    cluster.worker("llm.impatient", **constants(LLM_SILENCE_S=2))
    cluster.upstream.reply({"text": "Half "}, {"hang": True})
    view = await (await scenario.ask()).ended()
    assert (view.text, view.stop_reason) == ("Half ", "error")
    await scenario.check()


async def test_one_of_three_models_fails_and_the_others_finish(cluster: Cluster, scenario: Scenario) -> None:
    cluster.upstream.reply({"text": "one"}, model="alpha")
    cluster.upstream.reply({"text": "Half "}, {"eof": True}, model="beta")
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"text": "three"}, model="gamma")
    question = await scenario.ask(models=["alpha", "beta", "gamma"])
    alpha, beta, gamma = [await question.watcher.ended(run["id"]) for run in question.turn["runs"]]
    assert [view.stop_reason for view in (alpha, beta, gamma)] == ["finished", "error", "finished"]
    assert (alpha.text, beta.text) == ("one", "Half ")
    assert gamma.text.endswith("49 three")
    await scenario.check()
