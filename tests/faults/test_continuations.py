"""F29: a cut answer goes on while workers, web and Redis fail; no reader loses a word of either part, or sees one twice."""

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.client import RunView
from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario, WatchedTurn, words

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

FIRST = words(50)
WHOLE = words(250)
PREFILL = pytest.mark.parametrize("takes_prefill", [True, False], ids=["prefill", "instruction"])


@pytest.fixture
def takes_prefill() -> bool:
    return True


@pytest.fixture(autouse=True)
def prefill_of_models(cluster: Cluster, takes_prefill: bool) -> Iterator[None]:
    store = "UPDATE chat_modelconfig SET supports_prefill = %s RETURNING id"
    [before, *_] = cluster.rows("SELECT supports_prefill FROM chat_modelconfig")[0]
    cluster.rows(store, takes_prefill)
    yield
    cluster.rows(store, before)


def write_on(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut after FIRST; asked again, send exactly what WHOLE lacks after the text in the request."""
    held = _held(body)
    if not held:
        return [{"words": 50, "every_s": 0.005}, {"finish": "length"}]
    assert WHOLE.startswith(held), f"the model is shown {held!r}"
    return _pieces(WHOLE[len(held) :])


def _held(body: dict[str, Any]) -> str:
    """The text that the model is shown as its own."""
    return next((one["content"] for one in reversed(body["messages"]) if one["role"] == "assistant"), "")


def _pieces(text: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for word in text.split(" ")[:-1]:
        steps += [{"text": f"{word} "}, {"pause_s": 0.02}]
    return steps


async def cut(cluster: Cluster, scenario: Scenario) -> WatchedTurn:
    cluster.upstream.reply_by(write_on)
    question = await scenario.ask()
    assert (await question.ended()).text == FIRST
    await turn_end(question)
    return question


async def turn_end(question: WatchedTurn) -> None:
    """Wait until the watcher has read that the whole turn has ended, after which its answer can go on."""
    await question.watcher.until(
        lambda: question.turn["turn"] in question.watcher.stopped_turns, "overall_stop"
    )


async def ended_whole(question: WatchedTurn) -> None:
    """The rest is shown, once, and stored."""
    await question.showing(WHOLE)
    view = await question.ended()
    assert (view.text, view.stop_reason) == (WHOLE, "finished")


async def read_from(scenario: Scenario, question: WatchedTurn, cursor: dict[str, int], held: str) -> RunView:
    """What a reader shows in the end who comes back with this cursor and the text up to it."""
    async with scenario.client.socket() as socket:
        view = socket.runs[question.run] = RunView(cursor["attempt"], cursor["seq"], held)
        await socket.subscribe(question.session["id"], cursors={question.run: cursor})
        await socket.until(lambda: view.stop_reason and view.text == WHOLE, "the whole answer")
        return view


@pytest.mark.core
@pytest.mark.usefixtures("without_workers")
@PREFILL
async def test_a_worker_killed_while_an_answer_goes_on_loses_and_doubles_no_word(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.worker("llm.1")
    cluster.upstream.reply_by(write_on)
    question = await scenario.ask()
    away = await scenario.watch(question.session["id"])
    away.expect(question.run)
    await away.showing(question.run, "20 ")
    await away.stop()
    await question.ended()
    at_the_cut = {"attempt": question.view.attempt, "seq": question.view.seq}
    await turn_end(question)
    await scenario.go_on(question)
    # Later than a checkpoint, and in the middle of what follows it.
    await question.showing(" 200 ")
    scenario.record_fault()
    cluster.kill("llm.1")
    back = asyncio.create_task(read_from(scenario, question, at_the_cut, FIRST))
    cluster.worker("llm.2")
    await away.start()
    await ended_whole(question)
    assert (await back).text == WHOLE
    assert (await away.ended(question.run)).text == WHOLE
    await scenario.check()
    assert len(cluster.upstream.requests) == 3


@pytest.mark.usefixtures("without_workers")
async def test_a_worker_killed_while_a_stopped_answer_goes_on_loses_and_doubles_no_word(
    cluster: Cluster, scenario: Scenario
) -> None:
    cluster.worker("llm.1")
    cluster.upstream.reply_by(
        lambda body: write_on(body) if _held(body) else [*_pieces(FIRST), {"hang": True}]
    )
    question = await scenario.ask()
    await question.showing(FIRST)
    await scenario.stop(question.run)
    assert (await question.ended()).stop_reason == "user_cancelled"
    await turn_end(question)
    await scenario.go_on(question)
    await question.showing(" 200 ")
    scenario.record_fault()
    cluster.kill("llm.1")
    cluster.worker("llm.2")
    await ended_whole(question)
    await scenario.check()


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("point", ["after_claim", "before_finish", "after_finish", "before_announce"])
async def test_a_worker_killed_at_any_point_of_a_continuation_leaves_the_whole_answer(
    cluster: Cluster, scenario: Scenario, point: str
) -> None:
    cluster.worker("llm.1")
    question = await cut(cluster, scenario)
    cluster.kill("llm.1")
    cluster.worker("llm.doomed", FAULT_POINTS=f"{point}=kill")
    await scenario.go_on(question)
    await asyncio.to_thread(cluster.wait_for_exit, "llm.doomed")
    scenario.record_fault()
    cluster.worker("llm.1")
    await ended_whole(question)
    await scenario.check()


@PREFILL
async def test_a_continuation_is_stopped_with_every_word_that_was_shown(
    cluster: Cluster, scenario: Scenario
) -> None:
    question = await cut(cluster, scenario)
    await scenario.go_on(question)
    await question.showing("70 ")
    await scenario.stop(question.run)
    view = await question.ended()
    assert view.stop_reason == "user_cancelled"
    assert view.text.startswith(words(71))
    await scenario.check()
    _, answer = await scenario.client.branch(question.session)
    assert (answer["status"], answer["text"]) == ("stopped", view.text)
    assert cluster.upstream.requests[-1].ended == "disconnected"


async def test_web_is_killed_while_an_answer_goes_on(cluster: Cluster, scenario: Scenario) -> None:
    question = await cut(cluster, scenario)
    await scenario.go_on(question)
    await question.showing(" 60 ")
    web = cluster.stack.processes.pop("web")
    web.send_signal(signal.SIGKILL)
    scenario.record_fault()
    await asyncio.to_thread(web.wait, 60)
    cluster.stack.start("web")
    await ended_whole(question)
    await scenario.check()
    assert len(cluster.upstream.requests) == 2


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("moment", ["before it is claimed", "while it streams"])
async def test_redis_forgets_everything_while_an_answer_goes_on(
    cluster: Cluster, scenario: Scenario, moment: str
) -> None:
    cluster.worker("llm.1")
    question = await cut(cluster, scenario)
    if moment == "before it is claimed":
        cluster.kill("llm.1")
    await scenario.go_on(question)
    if moment == "while it streams":
        await question.showing(" 60 ")
    scenario.record_fault()
    with cluster.redis() as client:
        client.flushall()
    if moment == "before it is claimed":
        cluster.worker("llm.1")
    await ended_whole(question)
    await scenario.check()
