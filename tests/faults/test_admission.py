"""F24: ten thousand simultaneous turns. Those above the limit are rejected with Retry-After, the others are answered."""

import asyncio
import time
from collections import Counter

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario
from tests.stack import constants

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]
TURNS = 10_000
LIMIT = 500
SESSIONS = 50
AT_ONCE = 16


@pytest.mark.usefixtures("without_workers")
async def test_past_the_limit_turns_are_refused_and_the_accepted_ones_answered(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.kill("web")
    cluster.stack.start("web", "web", {"MAX_RUNS_PER_USER": str(TURNS), **constants(MAX_QUEUED_RUNS=LIMIT)})
    await asyncio.to_thread(cluster.stack.wait_until_ready)
    sessions = [await scenario.client.new_session() for _ in range(SESSIONS)]
    scenario.sessions += [session["id"] for session in sessions]
    answers: Counter[tuple[int, bool]] = Counter()
    numbers = iter(range(TURNS))

    async def send() -> None:
        for number in numbers:
            session = sessions[number % SESSIONS]["id"]
            asked_at = time.monotonic()
            answer = await scenario.client.http.post(
                f"/api/sessions/{session}/turns/", json={"text": scenario.make_unique("Count")}
            )
            record("F24", f"a send answered {answer.status_code}", time.monotonic() - asked_at)
            answers[answer.status_code, "Retry-After" in answer.headers] += 1
            if answer.status_code == 202:
                scenario.accepted.append(answer.json() | {"session": session})
            else:
                assert answer.json()["code"] == "queue_full"

    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    # The limit is checked before the transaction: concurrent sends may exceed it by a few.
    assert LIMIT <= answers[202, False] < LIMIT + AT_ONCE
    assert answers == {(202, False): answers[202, False], (429, True): TURNS - answers[202, False]}
    cluster.worker("llm.1")
    cluster.worker("llm.2")
    began_at = time.monotonic()
    await scenario.check(limit_s=180)
    record("F24", f"{LIMIT} waiting turns answered by two fresh workers", time.monotonic() - began_at)
    # New turns are accepted again.
    assert (await (await scenario.ask("And now?")).ended()).stop_reason == "finished"
    await scenario.check()
    cluster.kill("web")
