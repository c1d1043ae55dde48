"""A run with every kind of content is handed over or stopped at any moment: text and screen match what is stored."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from chat.models import ModelConfig, ToolCall
from chat.protocol.states import Status
from chat.protocol.wire import MessageDelta, Snapshot
from chat.runs.cancellation import stop_run
from llm_worker.attempt.runtime import Runtime
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import MOON, SEA, search_call, streamed_call
from tests.upstream_steps import last_user_text, tool_responses

NOW = {"call": {"name": "current_time", "arguments": {}}}
COMPLETE = "Let me see. \n\nOne more. \n\nThe moon [[1]](https://moon.example/), the sea [[2]](https://sea.example/)."
# About as many as the undisturbed run has.
MOMENTS = range(1, 43, 5)


WRITTEN = streamed_call(
    "research_agent", '{"question": ', {"pause_s": 0.005}, '"Who pulls', {"pause_s": 0.005}, ' the sea?"}'
)

# By how many tools have answered: reasoning, text and calls.
OUTSIDE = {
    0: ("Plan.", "Let me see. ", [search_call("moon"), NOW]),
    2: ("", "One more. ", WRITTEN),
    3: ("I see.", "The moon [1], the sea [2].", []),
}
INSIDE = {0: ("In.", "I look. ", [search_call("sea")]), 1: ("So.", "The sea [2].", [])}


def tell(body):
    """The same to every attempt, some letters at a time; what the request ends with is gone on with."""
    stage = INSIDE if "Who pulls" in last_user_text(body) else OUTSIDE
    thought, text, calls = stage[tool_responses(body)]
    latest = body["messages"][-1]
    if latest["role"] == "assistant" and not latest.get("tool_calls"):
        repeated = re.sub(r"\[(\[\d\])\]\([^)]*\)", r"\1", latest["content"])
        assert text.startswith(repeated)
        thought, text = "", text[len(repeated) :]
    pieces = [{"text": text[at : at + 5]} for at in range(0, len(text), 5)]
    spoken = [{"reasoning": thought}, *pieces] if thought else pieces
    return [step for each in spoken for step in (each, {"pause_s": 0.005})] + calls


@pytest.fixture
def session(agent_session, searching, upstream):
    searching.find(MOON, query="moon")
    searching.find(SEA, query="sea")
    upstream.reply_by(tell)
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    ModelConfig.objects.create(name="prefilling", base_url=upstream.base_url, supports_prefill=True)
    return agent_session(tools=["current_time", "research_agent", "web_search"])


def wait_for_packets(upstream, run, count: int) -> None:
    def has_come_so_far() -> bool:
        run.refresh_from_db(fields=["status"])
        return len(entries(run)) >= count or run.status not in (Status.QUEUED, Status.RUNNING)

    upstream.wait_for(has_come_so_far)


@pytest.mark.parametrize("model", ["plain", "prefilling"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_handed_over_at_any_moment_ends_with_the_same_answer(
    ask, deliver, runtime, upstream, session, moment, model
):
    [run] = ask("Why?", model, session=session)
    future = deliver(run)
    wait_for_packets(upstream, run, moment)
    runtime.drain(0)
    assert future.result(60)
    another_worker_does([run])
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.message.text) == (Status.COMPLETED, COMPLETE)
    assert [one.number for one in run.message.citations.order_by("number")] == [1, 2]
    assert set(ToolCall.objects.filter(run=run).values_list("status", flat=True)) == {"completed"}
    lines = entries(run)
    if isinstance(lines[0], Snapshot):
        added = [line.obj.text for line in lines[1:] if isinstance(line.obj, MessageDelta)]
        assert lines[0].message["text"] + "".join(added) == COMPLETE
    else:
        assert live(run) == rebuilt(run)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_stopped_at_any_moment_shows_what_is_stored(ask, deliver, upstream, session, moment):
    [run] = ask("Why?", "plain", session=session)
    future = deliver(run)
    wait_for_packets(upstream, run, moment)
    stop_run(run.pk)
    assert future.result(60)
    run.refresh_from_db()
    ended(run, run.status)
    assert live(run) == rebuilt(run)
    assert set(ToolCall.objects.filter(run=run).values_list("status", flat=True)) <= {"completed", "unknown"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_second_attempt_stopped_at_any_moment_shows_what_is_stored(
    ask, deliver, runtime, upstream, session, moment
):
    [run] = ask("Why?", "plain", session=session)
    future = deliver(run)
    wait_for_packets(upstream, run, 20)
    runtime.drain(0)
    assert future.result(60)
    run.refresh_from_db()
    another = Runtime()
    another.start()
    with ThreadPoolExecutor(1) as threads:
        going_on = threads.submit(another.run, str(run.pk))
        upstream.wait_for(lambda: is_so_far(run, moment))
        stop_run(run.pk)
        assert going_on.result(60)
    another.stop()
    run.refresh_from_db()
    run.message.refresh_from_db()
    first, *_, last = entries(run)
    assert last.obj.stop_reason == ("finished" if run.status == Status.COMPLETED else "user_cancelled")
    if isinstance(first, Snapshot):
        assert first.message["text"] == run.message.text  # the attempt had not resumed yet
    else:
        ended(run, run.status)
        assert live(run) == rebuilt(run)


def is_so_far(run, count: int) -> bool:
    run.refresh_from_db(fields=["status"])
    lines = entries(run)
    is_second = bool(lines) and lines[0].attempt == 2
    return (is_second and len(lines) >= count) or run.status not in (Status.QUEUED, Status.RUNNING)
