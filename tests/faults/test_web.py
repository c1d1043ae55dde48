"""Web processes end, clients come and go: F15, F16, F17."""

import asyncio
import signal
import time

import pytest

from tests.faults.cluster import Cluster
from tests.faults.measurements import record
from tests.faults.scenario import Scenario, WatchedTurn, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]


async def begun(cluster: Cluster, scenario: Scenario, number: int) -> list[WatchedTurn]:
    cluster.upstream.reply({"words": 100, "every_s": 0.01}, {"wait": "web"}, {"words": 100, "every_s": 0.01})
    questions = await scenario.ask_many(number)
    for question in questions:
        await question.showing("50 ")
    return questions


@pytest.mark.parametrize("number", [pytest.param(signal.SIGKILL, marks=pytest.mark.core), signal.SIGTERM])
async def test_clients_of_a_web_process_that_ended_resume_and_the_runs_never_noticed(
    cluster: Cluster, scenario: Scenario, number: signal.Signals
) -> None:
    questions = await begun(cluster, scenario, 10)
    web = cluster.stack.processes.pop("web")
    web.send_signal(number)
    scenario.record_fault()
    await asyncio.to_thread(web.wait, 60)
    cluster.stack.start("web")
    for question in questions:
        await question.watcher.until(lambda q=question: len(q.watcher.log.sockets) > 1, "another connection")
    cluster.upstream.release("web")
    for question in questions:
        view = await question.ended()
        assert (view.attempt, view.text) == (1, words(100) * 2)
    report = await scenario.check()
    assert len(cluster.upstream.requests) == 10
    assert (report.figures["resets"], report.figures["snapshots"]) == (0, 0)
    codes = {question.watcher.close_codes[0] for question in questions}
    assert codes == ({1012} if number == signal.SIGTERM else {1006})
    back_s = [question.watcher.log.sockets[-1].frames[0][0] - scenario.faults[0] for question in questions]
    record("F15" if number == signal.SIGKILL else "F16", f"{number.name} of web: to subscribed again", back_s)


@pytest.mark.parametrize("until_after_the_end", [pytest.param(False, marks=pytest.mark.core), True])
async def test_a_client_that_was_away_loses_nothing(
    cluster: Cluster, scenario: Scenario, until_after_the_end: bool
) -> None:
    cluster.upstream.reply({"words": 50, "every_s": 0.01}, {"wait": "it"}, {"words": 300, "every_s": 0.01})
    question = await scenario.ask()
    await question.showing("49 ")
    await question.watcher.stop()
    cluster.upstream.release("it")
    if until_after_the_end:
        await scenario.settle()
    else:
        await asyncio.sleep(1)
    back_at = time.monotonic()
    await question.watcher.start()
    assert (await question.ended()).text == words(50) + words(300)
    if until_after_the_end:
        record("F17", "back after the end: to the whole answer", time.monotonic() - back_at)
    report = await scenario.check()
    assert (report.figures["resets"], report.figures["snapshots"]) == (0, 0)
    _, answer = await scenario.client.branch(question.session)
    assert answer["text"] == words(50) + words(300)
