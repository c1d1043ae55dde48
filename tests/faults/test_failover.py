"""Postgres fails over to a replica that has not received the latest transactions."""

import asyncio

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

# What the replica holds of runs that were sent, and claimed a moment before the failover.
FORGET_CLAIMS = """
    WITH forgotten AS (
        UPDATE chat_run SET status = 'queued', attempt = 0, owner = NULL, lease_until = NULL, beat_at = NULL,
            claimed_at = NULL, saved_seq = 0, history = '[]'
        WHERE status = 'running' RETURNING message_id
    ) UPDATE chat_chatmessage SET text = '', reasoning = '' FROM forgotten WHERE id = message_id RETURNING id"""


@pytest.mark.usefixtures("without_workers")
async def test_two_workers_with_the_same_number_of_an_attempt_never_mix_their_words(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.worker("llm.away")
    cluster.upstream.reply({"words": 30, "every_s": 0.01}, {"wait": "both"}, {"words": 100, "every_s": 0.01})
    questions = await scenario.ask_many(10)
    for question in questions:
        await question.showing("29 ")
    cluster.pause("llm.away")
    scenario.record_fault()
    assert len(cluster.rows(FORGET_CLAIMS)) == 10
    cluster.worker("llm.1")
    taken = "SELECT id FROM chat_run WHERE status = 'running' AND attempt = 2"
    await asyncio.to_thread(cluster.wait_until, lambda: cluster.rows(taken), "a number above")
    cluster.resume("llm.away")
    cluster.upstream.release("both")
    for question in questions:
        view = await question.ended()
        assert (view.text, view.stop_reason) == (words(30) + words(100), "finished")
    report = await scenario.check()
    record("F14", "claims lost in a failover: to the first new packet", report.figures["takeover"])
    numbers = {attempt for (attempt,) in cluster.rows("SELECT attempt FROM chat_run")}
    assert numbers == {2}
