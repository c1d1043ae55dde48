"""Workers killed and runs stopped in every phase of a turn with tools: F5, F21's tool, I7."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from chat.infrastructure.fault_points import Point
from tests.e2e.comparison import calls_and_responses
from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn
from tests.stack import procfile
from tests.tool_fixtures import MOON, SEA, search_call, streamed_call

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

ACT = {"call": {"name": "act", "arguments": {"what": "now"}}}
TOOLS = ["current_time", "research_agent", "web_search"]
PHASES = ("a search", "an agent's question", "an agent's search", "an agent's report", "the answer")
COMPLETE = "Let me see. \n\nOne more. \n\nThe moon [[1]](https://moon.example/), the sea [[2]](https://sea.example/)."
ACT_UNASKED = "INSERT INTO chat_toolpolicy (name, approval) VALUES ('act', 'never'), ('note', 'never') ON CONFLICT DO NOTHING RETURNING id"
ADD_ACT = """UPDATE chat_agent SET tools = '["act", "current_time", "draw", "note", "research_agent", "web_search"]' WHERE id = %s RETURNING id"""


def acting(cluster: Cluster, name: str, **environment: str) -> None:
    """A worker that can also act."""
    command = procfile()["llm"].replace("-m celery", "-m tests.faults.acting_worker")
    cluster.stack.start(command, name, environment)


async def ask(scenario: Scenario, cluster: Cluster, *, may_act: bool, unasked: bool = True) -> WatchedTurn:
    """unasked: its calls need no approval."""
    agent = await scenario.client.call(
        "POST", "agents/", json={"name": "Sailor", "prompt": "Sail.", "tools": TOOLS}, status=201
    )
    if may_act:
        # web knows the tools of this project only
        await asyncio.to_thread(cluster.rows, ADD_ACT, agent["id"])
        if unasked:
            await asyncio.to_thread(cluster.rows, ACT_UNASKED)
    return await scenario.ask("Why are there tides?", session={"agent": agent["id"]})


def script(cluster: Cluster, *first: dict[str, Any], hangs: str = "") -> None:
    """By how far a turn has come, so that every attempt is told the same. first: calls beside a search."""
    upstream, searching = cluster.upstream, cluster.searching
    if query := {"a search": "moon", "an agent's search": "sea"}.get(hangs):
        searching.answer(query, hang=True)
    searching.find(MOON, query="moon")
    searching.find(SEA, query="sea")
    question, _, report, answer = ([{"hang": True}] if hangs == phase else [] for phase in PHASES[1:])
    asks = streamed_call("research_agent", '{"question": "Who', " pulls", *question, ' the sea?"}')
    upstream.reply(
        {"reasoning": "In."}, {"text": "I look. "}, search_call("sea"), contains="Who pulls", after_tools=0
    )
    upstream.reply({"text": "The sea [2]."}, *report, contains="Who pulls", after_tools=1)
    upstream.reply(
        {"reasoning": "Plan."}, {"text": "Let me see. "}, search_call("moon"), *first, after_tools=0
    )
    upstream.reply({"text": "One more. "}, *asks, after_tools=1 + len(first))
    upstream.reply(
        {"reasoning": "I see."}, {"text": "The moon [1], "}, *answer, {"text": "the sea [2]."},
        after_tools=2 + len(first),
    )  # fmt: skip


async def judged(scenario: Scenario, cluster: Cluster, question: WatchedTurn) -> dict[str, Any]:
    """The right text, and no promise broken; the answer."""
    view = await question.ended()
    assert (view.text, view.stop_reason) == (COMPLETE, "finished")
    await scenario.check()
    _, answer = await scenario.client.branch(question.session)
    assert [citation["number"] for citation in answer["citations"]] == [1, 2]
    for request in cluster.upstream.requests:
        called, answered = calls_and_responses(request)
        assert called == answered
    return answer


def acted(cluster: Cluster) -> int:
    return sum(query.startswith("act") for query in cluster.searching.queries)


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize(
    ("point", "acts", "status"),
    [
        ("before_round", 1, "completed"),
        pytest.param("after_round_began", 0, "unknown", marks=pytest.mark.core),
        ("before_call_ended", 1, "unknown"),
        ("after_call_ended", 1, None),
        ("before_finish", 1, "completed"),
    ],
)
async def test_a_worker_killed_around_a_call_leaves_the_right_answer_and_acts_at_most_once(
    cluster: Cluster, scenario: Scenario, point: Point, acts: int, status: str | None
) -> None:
    acting(cluster, "llm.doomed", FAULT_POINTS=f"{point}=kill")
    script(cluster, ACT)
    question = await ask(scenario, cluster, may_act=True)
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    scenario.record_fault()
    acting(cluster, "llm.1")
    answer = await judged(scenario, cluster, question)
    record("F5", f"killed {point}: to the end of the answer", time.monotonic() - scenario.faults[-1])
    [act] = [call for call in answer["tool_calls"] if call["name"] == "act"]
    assert acted(cluster) <= 1
    if status:
        assert (acted(cluster), act["status"]) == (acts, status)
    assert ("may or may not" in act["response"]) == (act["status"] == "unknown")
    assert cluster.searching.queries.count("sea") == 1


@pytest.mark.usefixtures("without_workers")
async def test_a_call_of_an_idempotent_tool_that_is_made_again_has_the_same_key(
    cluster: Cluster, scenario: Scenario
) -> None:
    acting(cluster, "llm.doomed", FAULT_POINTS="before_call_ended=kill")
    notes = [{"call": {"name": "note", "arguments": {"what": what}}} for what in ("one", "two")]
    script(cluster, *notes)
    question = await ask(scenario, cluster, may_act=True)
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    scenario.record_fault()
    acting(cluster, "llm.1")
    await judged(scenario, cluster, question)
    noted = [query.split()[1:] for query in cluster.searching.queries if query.startswith("note")]
    assert 2 < len(noted) <= 4, (
        "the death came after one of them, or both, and before their results were stored"
    )
    keys = dict(noted)
    assert all(keys[what] == key for what, key in noted)
    assert len(set(keys.values())) == 2, "of different calls"


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("phase", PHASES)
async def test_a_worker_killed_in_any_phase_of_a_turn_with_tools(
    cluster: Cluster, scenario: Scenario, phase: str
) -> None:
    cluster.worker("llm.doomed")
    script(cluster, hangs=phase)
    question = await ask(scenario, cluster, may_act=False)
    await asyncio.to_thread(cluster.wait_until, in_phase(cluster, phase, question), phase)
    scenario.record_fault()
    cluster.kill("llm.doomed")
    cluster.searching.rules.clear()
    cluster.upstream.rules.clear()
    script(cluster)
    cluster.worker("llm.1")
    answer = await judged(scenario, cluster, question)
    record("F5", f"killed during {phase}: to the end of the answer", time.monotonic() - scenario.faults[-1])
    assert {call["status"] for call in answer["tool_calls"]} == {"completed"}
    again = {"a search": ["moon", "moon", "sea"], "an agent's search": ["moon", "sea", "sea"]}
    assert cluster.searching.queries == again.get(phase, ["moon", "sea"])


def in_phase(cluster: Cluster, phase: str, question: WatchedTurn) -> Callable[[], bool]:
    match phase:
        case "an agent's question":
            kinds = question.view.kinds
            return lambda: kinds.count("tool_start") == 2 and kinds[-1] == "tool_arguments_delta"
        case "a search":
            return lambda: cluster.searching.queries == ["moon"]
        case "an agent's search":
            return lambda: cluster.searching.queries == ["moon", "sea"]
        case "an agent's report":
            return lambda: len(cluster.upstream.requests) == 4
    return lambda: len(cluster.upstream.requests) == 5


@pytest.mark.parametrize("phase", PHASES[:4])
async def test_a_stop_during_a_tool(cluster: Cluster, scenario: Scenario, phase: str) -> None:
    script(cluster, hangs=phase)
    question = await ask(scenario, cluster, may_act=False)
    await asyncio.to_thread(cluster.wait_until, in_phase(cluster, phase, question), phase)
    await scenario.stop(question.run)
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    report = await scenario.check()
    record("F21", f"stop during {phase}: asked to `stop` packet", report.figures["stop"])
    _, answer = await scenario.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)
    assert answer["tool_calls"][-1]["status"] == "unknown"
    assert {call["status"] for call in answer["tool_calls"][:-1]} <= {"completed"}
    if phase == "an agent's question":
        assert answer["tool_calls"][-1]["arguments"] == {"question": "Who pulls"}
    if phase.endswith("search"):
        cluster.searching.wait_for(lambda: cluster.searching.requests[-1].left)
