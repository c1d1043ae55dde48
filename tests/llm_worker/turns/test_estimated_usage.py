"""What a server does not report is estimated, counted everywhere, and marked as an estimate."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import DailyUse, ModelConfig
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.transcript.tokens import count_tokens
from tests import factories
from tests.features.titles.titling import name_session
from tests.llm_worker.outcomes import ended, stopped, wait_for_text

QUESTION, ANSWER = "Why are there two tides a day?", "The Moon pulls both sides of the Earth."
SILENT = {"usage": None}


@pytest.fixture
def answer(ask, deliver, upstream):
    def answer(*steps, **fields):
        upstream.reply(*(steps or ({"text": ANSWER}, SILENT)), times=1)
        [run] = ask(QUESTION, **fields)
        ModelConfig.objects.update(prompt_price=1, completion_price=10)
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
        return run

    return answer


def read(run, path):
    return factories.api_client(run.turn.session.owner).get(f"/api/{path}").json()


def test_an_answer_counts_as_estimated_with_its_cost(answer):
    run = answer()
    usage = read(run, f"runs/{run.pk}/")["usage"]
    assert usage["completion_tokens"] == count_tokens(ANSWER)
    assert usage["prompt_tokens"] > count_tokens(QUESTION)
    assert usage["estimated_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    [row] = read(run, "usage/")
    assert {name: row[name] for name in usage if usage[name] is not None} == {
        name: number for name, number in usage.items() if number is not None
    }
    cost = Decimal(usage["prompt_tokens"] + 10 * usage["completion_tokens"]) / 1_000_000
    assert (run.cost, row["cost"]) == (cost, float(cost))


def test_limits_count_the_same_and_say_so(answer):
    run = answer()
    by_code = {row["code"]: row for row in read(run, "usage/limits/")}
    assert by_code["tokens_per_day"]["used"] == run.estimated_tokens
    assert [code for code, row in by_code.items() if row["is_estimated"]] == [
        "tokens_per_day",
        "cost_per_day",
    ]
    assert DailyUse.objects.get().cost == run.cost


def test_what_a_server_reports_is_no_estimate(answer):
    run = answer({"text": ANSWER})
    assert (run.prompt_tokens, run.completion_tokens, run.estimated_tokens) == (7, 1, None)
    assert not any(row["is_estimated"] for row in read(run, "usage/limits/"))
    assert read(run, "usage/")[0]["estimated_tokens"] == 0


def test_a_count_that_is_missing_alone_is_estimated_alone(answer):
    run = answer({"text": ANSWER}, {"usage": {"prompt_tokens": 100}})
    assert (run.prompt_tokens, run.completion_tokens) == (100, count_tokens(ANSWER))
    assert run.estimated_tokens == count_tokens(ANSWER)


def test_calls_of_tools_are_written_too(answer, agent_session, upstream):
    upstream.reply({"call": {"name": "current_time", "arguments": {}}}, SILENT, times=1)
    run = answer(session=agent_session(tools=["current_time"]))
    assert run.completion_tokens > count_tokens(ANSWER)
    assert run.cycles == 2


def test_an_answer_that_was_stopped_has_used_what_was_written(ask, deliver, upstream):
    upstream.reply({"text": ANSWER}, {"hang": True})
    [run] = ask(QUESTION)
    delivery = deliver(run)
    wait_for_text(upstream, run, len(ANSWER))
    stop_run(run.pk)
    stopped(upstream, delivery, run)
    assert run.completion_tokens == count_tokens(ANSWER)
    assert run.estimated_tokens == run.prompt_tokens + run.completion_tokens


def test_a_server_that_refuses_has_used_nothing(ask, deliver, upstream):
    upstream.reply({"status": 400})
    [run] = ask(QUESTION)
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_rejected")
    assert (run.prompt_tokens, run.completion_tokens, run.estimated_tokens) == (None, None, None)


def test_a_title_counts_as_estimated(answer, runtime, upstream):
    run = answer({"text": ANSWER})
    before = DailyUse.objects.get().tokens
    upstream.reply({"text": "Two Tides"}, SILENT, stream=False)
    name_session(runtime, str(run.pk))
    row = read(run, "usage/")[1]
    assert row["completion_tokens"] == count_tokens("Two Tides")
    assert row["estimated_tokens"] == row["prompt_tokens"] + row["completion_tokens"]
    assert DailyUse.objects.get().tokens - before == row["estimated_tokens"]


def test_staff_read_how_much_is_estimated(answer):
    run = answer()
    client = Client()
    client.force_login(factories.create_user("bob", is_staff=True, is_superuser=True))
    assert f">{run.estimated_tokens}<" in client.get(reverse("admin:usage")).content.decode()
    page = client.get(reverse("admin:chat_run_change", args=[run.pk])).content.decode()
    assert f"{run.estimated_tokens} estimated" in page
