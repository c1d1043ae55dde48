"""Stored requests equal what the model server received, including those of agents; runs have their cost."""

import time
from collections.abc import Callable
from decimal import Decimal

import pytest

from chat.models import ModelConfig, Run, SentRequest, ToolCall
from chat.protocol.states import Status
from tests.llm_worker.outcomes import ended
from tests.tool_fixtures import MOON, RESEARCH, search_call

SEARCH = search_call("moon")
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}


@pytest.fixture
def session(agent_session, searching):
    searching.find(MOON, query="moon")
    return agent_session(tools=["research_agent", "web_search"])


def kept(run: Run, count: int = 1) -> list[SentRequest]:
    """Wait for the requests of the run, which are stored shortly after its end."""
    return eventually(lambda: list(SentRequest.objects.filter(run=run).order_by("sent_at", "pk")), count)


def eventually(read: Callable[[], list[SentRequest]], count: int) -> list[SentRequest]:
    limit = time.monotonic() + 60
    while len(rows := read()) < count:
        assert time.monotonic() < limit, f"{len(rows)} of {count} rows"
        time.sleep(0.02)
    return rows


def test_every_request_is_stored_as_it_was_sent(ask, deliver, upstream, session):
    upstream.reply(RESEARCH, times=1)
    upstream.reply(SEARCH, times=1)
    upstream.reply({"text": "The Moon does."}, times=1)
    upstream.reply({"text": "It is the Moon."})
    [run] = ask("Who?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="It is the Moon.")
    rows = kept(run, 4)
    assert [row.whole() for row in rows] == [request.messages for request in upstream.requests]
    research = ToolCall.objects.get(run=run, name="research_agent")
    assert [(row.cycle, row.tool_call_id) for row in rows] == [
        (1, None), (1, research.pk), (2, research.pk), (2, None)
    ]  # fmt: skip
    assert [row.common > 0 for row in rows] == [False, False, True, True]


def test_the_prefix_share_compares_with_the_previous_turn(ask, deliver, upstream, session):
    upstream.reply({"text": "So."})
    for question in ("Why?", "And now?"):
        [run] = ask(question, session=session)
        deliver(run).result(60)
    first, second = eventually(lambda: list(SentRequest.objects.order_by("sent_at")), 2)
    assert first.prefix_share == 0
    assert 0.5 < second.prefix_share < 1, "all but the answer and the new question"


@pytest.mark.parametrize("step", [{"status": 400}, {"text": "half"}])
def test_failed_requests_are_stored(ask, deliver, upstream, step):
    upstream.reply(step, {"eof": True})
    [run] = ask("Why?")
    deliver(run).result(60)
    [row] = kept(run)
    assert row.whole() == upstream.requests[0].messages


def test_the_cost_of_a_run_sums_all_its_inferences(ask, deliver, upstream, session):
    upstream.reply(SEARCH, {"usage": USAGE}, times=1)
    upstream.reply({"text": "The Moon does."}, {"usage": USAGE})
    [run] = ask("Who?", session=session)
    ModelConfig.objects.update(prompt_price=1, cached_price=Decimal("0.1"), completion_price=10)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert run.cost == 2 * Decimal(400 + 60 + 1000) / 1_000_000
