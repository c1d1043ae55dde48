"""A run that another worker takes over goes on with what its limits have left, and its use is counted once."""

import asyncio

import pytest

from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario
from tests.stack import constants
from tests.tool_fixtures import MOON, SEA, search_call, tool_responses

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

USAGE = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}
SPENT = """
SELECT spent_inferences, spent_tool_calls, spent_searches, spent_tokens FROM chat_run WHERE id = %s
"""
# Of the scenario's user alone, on all days: the cluster has served others before, and a day may end meanwhile.
USED = """
SELECT COALESCE(sum(used.runs), 0), COALESCE(sum(used.tokens), 0) FROM chat_dailyuse AS used
JOIN auth_user ON auth_user.id = used.user_id WHERE auth_user.username = 'alice'
"""


@pytest.mark.usefixtures("without_workers")
async def test_a_killed_worker_leaves_its_successor_only_what_it_had_left(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.searching.find(MOON, query="moon")
    cluster.searching.find(SEA, query="sea")
    cluster.upstream.reply(search_call("moon"), search_call("sea"), USAGE, after_tools=0)
    cluster.upstream.reply({"hang": True}, times=1, after_tools=1)
    cluster.upstream.reply(search_call("sun"), USAGE, after_tools=1)
    cluster.upstream.reply({"text": "The moon [1]."}, USAGE, after_tools=2)
    [(runs, tokens)] = await asyncio.to_thread(cluster.rows, USED)
    cluster.worker("llm.doomed", **constants(MAX_RUN_SEARCHES=2))
    agent = await scenario.client.call(
        "POST", "agents/", json={"name": "Sailor", "prompt": "", "tools": ["web_search"]}, status=201
    )
    question = await scenario.ask("Why are there tides?", session={"agent": agent["id"]})
    await asyncio.to_thread(
        cluster.wait_until, lambda: len(cluster.upstream.requests) == 2, "the second inference"
    )
    scenario.record_fault()
    cluster.kill("llm.doomed")
    cluster.worker("llm.1", **constants(MAX_RUN_SEARCHES=2))
    view = await question.ended()
    assert view.text.startswith("The moon [[1]]")
    assert sorted(cluster.searching.queries) == ["moon", "sea"]
    [_, refused] = tool_responses(cluster.upstream.requests[-1])
    assert "at most 2 searches, of which none is left" in refused
    [spent] = await asyncio.to_thread(cluster.rows, SPENT, question.run)
    assert tuple(spent) == (3, 1, 2, 330)
    [used] = await asyncio.to_thread(cluster.rows, USED)
    assert tuple(used) == (runs + 1, tokens + 330)
