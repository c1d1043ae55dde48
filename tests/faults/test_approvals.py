"""A run that waits for its user's approval while processes are killed: it goes on in another worker, and no call is made twice."""

import asyncio
import time
from typing import Any

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn
from tests.faults.test_tools import ACT, acted, acting, ask

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240), pytest.mark.usefixtures("without_workers")]


@pytest.fixture(autouse=True)
def asking(cluster: Cluster) -> None:
    """`act` needs approval, as every tool that changes something."""
    cluster.rows("DELETE FROM chat_toolpolicy WHERE name = 'act' RETURNING id")


async def ask_to_act(scenario: Scenario, cluster: Cluster) -> tuple[WatchedTurn, str]:
    """A question whose run waits; with the call."""
    cluster.upstream.reply({"text": "I act. "}, ACT, after_tools=0)
    cluster.upstream.reply({"text": "Done."}, after_tools=1)
    question = await ask(scenario, cluster, may_act=True, unasked=False)

    def waiting() -> Any:
        return cluster.rows("SELECT id FROM chat_run WHERE id = %s AND status = 'waiting'", question.run)

    await asyncio.to_thread(cluster.wait_until, waiting, "a waiting run")
    [listed] = await scenario.client.call("GET", "approvals/")
    assert listed["run"] == question.run
    return question, listed["tool_call"]


async def approve(scenario: Scenario, call: str) -> None:
    await scenario.client.call("POST", f"tool-calls/{call}/approval/", json={"approved": True}, status=202)


async def answer_of(scenario: Scenario, question: WatchedTurn) -> dict[str, Any]:
    view = await question.ended()
    assert (view.text, view.stop_reason) == ("I act. \n\nDone.", "finished")
    await scenario.check()
    _, answer = await scenario.client.branch(question.session)
    return answer


async def test_every_process_is_killed_while_a_run_waits_and_another_worker_finishes_it(
    cluster: Cluster, scenario: Scenario
) -> None:
    acting(cluster, "llm.first")
    question, call = await ask_to_act(scenario, cluster)
    scenario.record_fault()
    await asyncio.to_thread(cluster.kill, *list(cluster.stack.processes), with_children=True)
    for name in ("web", "sweeper"):
        cluster.stack.start(name)
    acting(cluster, "llm.second")
    await asyncio.to_thread(cluster.stack.wait_until_ready)
    await approve(scenario, call)
    approved_at = time.monotonic()
    answer = await answer_of(scenario, question)
    record("F31", "approved after all were killed: to the end of the answer", time.monotonic() - approved_at)
    assert acted(cluster) == 1
    assert [one["status"] for one in answer["tool_calls"]] == ["completed"]


@pytest.mark.parametrize(("point", "acts"), [("after_approved_calls_began", 0), ("before_call_ended", 1)])
async def test_a_worker_killed_around_an_approved_call_does_not_make_it_again(
    cluster: Cluster, scenario: Scenario, point: str, acts: int
) -> None:
    acting(cluster, "llm.first")
    question, call = await ask_to_act(scenario, cluster)
    await asyncio.to_thread(cluster.kill, "llm.first", with_children=True)
    acting(cluster, "llm.doomed", FAULT_POINTS=f"{point}=kill")
    await approve(scenario, call)
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    scenario.record_fault()
    acting(cluster, "llm.second")
    answer = await answer_of(scenario, question)
    assert acted(cluster) == acts
    [made] = answer["tool_calls"]
    assert made["status"] == "unknown"
    assert "may or may not" in made["response"]
