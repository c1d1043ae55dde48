"""What a user may use in a day: runs, tokens and cost, checked whenever runs are started."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from rest_framework.test import APIClient

from chat.models import DailyUse, GroupLimits, ModelConfig, PendingUse, Run, Turn
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.sweeper.runs import sweep
from chat.transcript.finish import Finish
from chat.transcript.usage import RunSpending, TokenUsage
from tests import factories
from tests.concurrency import run_concurrently


def refused(response: Any) -> dict[str, Any]:
    answer: dict[str, Any] = response.json()
    assert (response.status_code, answer["code"]) == (429, "daily_limit_reached"), answer
    return answer


def limits_of(client: APIClient) -> dict[str, Any]:
    return {row.pop("code"): row for row in client.get("/api/usage/limits/").json()}


def answer(client: APIClient, session: str, tokens: int, **fields: Any) -> Run:
    """Send, and end the run as a worker does after using so many tokens."""
    run = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=7)
    assert run
    end(run, tokens, **fields)
    return run


def end(run: Run, tokens: int, prompt: int = 0, text: str = "So.", **fields: Any) -> None:
    usage = TokenUsage(prompt, 0)
    spent = RunSpending(tokens=tokens)
    outcome = RunOutcome(Status.COMPLETED, 3, text=text, usage=usage, spending=spent, **fields)
    assert commit_end(run.pk, run.attempt, outcome)
    announce(run.pk)


def member(user: Any, name: str, **limits: Any) -> None:
    group = Group.objects.create(name=name)
    GroupLimits.objects.create(group=group, **limits)
    user.groups.add(group)


# Runs


def test_the_runs_of_a_day_are_counted_and_the_next_is_refused(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=2)
    assert [factories.complete_turn(client, session) for _ in range(2)]
    answer = refused(factories.send_turn(client, session))
    assert (answer["limit"], answer["used"], answer["max"]) == ("runs_per_day", 2, 2)
    assert answer["resets_at"].endswith("T00:00:00Z")
    assert Turn.objects.count() == 2


def test_columns_count_each_and_are_refused_together(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=1)
    refused(factories.send_turn(client, session, models=["quick", "deep"]))
    assert factories.send_turn(client, session).status_code == 202


def test_every_way_to_start_runs_is_refused(client: APIClient, session: str) -> None:
    turn = factories.complete_turn(client, session)
    question, run = turn["user_message"], turn["runs"][0]["id"]
    root = client.get(f"/api/sessions/{session}/").json()["root"]
    Run.objects.filter(pk=run).update(finish_reason="length")
    factories.set_default_limits(runs_per_day=1)
    refused(factories.send_turn(client, session))
    refused(factories.send_turn(client, session, parent=root))  # an edited question
    again = f"/api/messages/{question}/regenerations/"
    refused(client.post(again, {}, format="json"))
    refused(client.post(again, {"replace": {"run": run}}, format="json"))
    refused(client.post(f"/api/runs/{run}/continuation/", {}, format="json"))
    factories.set_default_limits(runs_per_day=2)
    assert client.post(f"/api/runs/{run}/continuation/", {}, format="json").status_code == 202
    assert DailyUse.objects.get().runs == 2


def test_a_repeated_send_is_answered_as_the_first(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=1)
    assert factories.send_turn(client, session, client_message_id="one").status_code == 202
    assert factories.send_turn(client, session, client_message_id="one").status_code == 200
    assert DailyUse.objects.get().runs == 1


def test_a_new_day_begins_at_0(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=1)
    factories.complete_turn(client, session)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    DailyUse.objects.update(day=yesterday)
    assert factories.send_turn(client, session).status_code == 202
    assert sorted(DailyUse.objects.values_list("day", "runs")) == [
        (yesterday, 1),
        (yesterday + timedelta(days=1), 1),
    ]


def test_what_others_use_does_not_count(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=1)
    factories.send_turn(client, session)
    other = factories.api_client(factories.create_user("bob"))
    own = other.post("/api/sessions/", {}, format="json").json()["id"]
    assert factories.send_turn(other, own).status_code == 202


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("locked", [False, True])
def test_sends_side_by_side_never_pass_the_limit_on_runs(alice: Any, locked: bool) -> None:
    factories.set_default_limits(runs_per_day=5)
    client = factories.api_client(alice)
    sessions = [client.post("/api/sessions/", {}, format="json").json() for _ in range(12)]

    def send(session: dict[str, Any]) -> int:
        body = {"parent": session["root"]} if locked else {}
        status: int = factories.send_turn(factories.api_client(alice), session["id"], **body).status_code
        return status

    statuses = run_concurrently(*(partial(send, session) for session in sessions))
    assert sorted(statuses) == [202] * 5 + [429] * 7
    assert Run.objects.count() == DailyUse.objects.get().runs == 5


@pytest.mark.django_db(transaction=True)
def test_turns_of_a_user_side_by_side_do_not_wait_for_the_row_of_the_day(
    client: APIClient, session: str
) -> None:
    """What they use is added to it by the sweeper, and counts at once."""
    answer(client, session, 100)

    def answer_once_more() -> Run:
        try:
            return answer(client, session, 20)
        finally:
            connection.close()

    with ThreadPoolExecutor() as thread, transaction.atomic():
        DailyUse.objects.select_for_update().get()
        thread.submit(answer_once_more).result(timeout=30)
    assert [limits_of(client)[name]["used"] for name in ("runs_per_day", "tokens_per_day")] == [2, 120]
    assert DailyUse.objects.get().runs == 1
    sweep(trust_locks=False)
    use = DailyUse.objects.get()
    assert (use.runs, use.tokens, PendingUse.objects.count()) == (2, 120, 0)
    sweep(trust_locks=False)
    assert [limits_of(client)[name]["used"] for name in ("runs_per_day", "tokens_per_day")] == [2, 120]


# Tokens and cost


def test_tokens_are_counted_as_they_are_used(client: APIClient, session: str) -> None:
    factories.set_default_limits(tokens_per_day=1000)
    run = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=7)
    assert run
    Run.objects.spend(run.pk, RunSpending(1, 1, 1, 400))
    assert DailyUse.objects.get().tokens == 400
    Run.objects.spend(run.pk, RunSpending(2, 1, 1, 600))
    Run.objects.spend(run.pk, RunSpending(2, 1, 1, 600))  # repeated after a lost reply
    end(run, 999)
    assert DailyUse.objects.get().tokens == 999
    answer(client, session, 1)
    assert refused(factories.send_turn(client, session))["limit"] == "tokens_per_day"


def test_a_continuation_adds_only_what_it_used_itself(client: APIClient, session: str) -> None:
    ModelConfig.objects.update(prompt_price=100_000, completion_price=0)
    run = answer(client, session, 100, prompt=20, finish=Finish("length", 10))
    used = DailyUse.objects.get()
    assert (used.tokens, used.cost) == (100, Decimal(2))
    assert client.post(f"/api/runs/{run.pk}/continuation/", {}, format="json").status_code == 202
    again = Run.objects.claim(run.pk, owner=8)
    assert again
    end(again, 150, prompt=50)
    used = DailyUse.objects.get()
    assert (used.runs, used.tokens, used.cost) == (2, 150, Decimal(5))


def test_the_cost_of_a_day_is_limited(client: APIClient, session: str) -> None:
    ModelConfig.objects.update(prompt_price=100_000, completion_price=0)
    factories.set_default_limits(cost_per_day=Decimal("2.5"))
    answer(client, session, 1, prompt=20)
    answer(client, session, 1, prompt=10)
    told = refused(factories.send_turn(client, session))
    assert (told["limit"], told["used"], told["max"]) == ("cost_per_day", 3.0, 2.5)


def test_a_run_whose_worker_was_lost_keeps_what_was_counted(client: APIClient, session: str) -> None:
    run = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=7)
    assert run
    Run.objects.spend(run.pk, RunSpending(3, 2, 1, 400))
    assert commit_end(run.pk, run.attempt, RunOutcome(Status.COMPLETED, 1))
    run.refresh_from_db()
    assert run.spending == RunSpending(3, 2, 1, 400)
    assert DailyUse.objects.get().tokens == 400


# Groups


@pytest.mark.parametrize(
    ("groups", "most"),
    [
        ([], 3),
        ([None], 3),
        ([1], 1),
        ([1, 5], 5),
        ([None, 1], 1),
        ([5, 0], None),
        ([0], None),
    ],
)
def test_the_most_generous_group_counts(
    client: APIClient, alice: Any, groups: list[int | None], most: int | None
) -> None:
    factories.set_default_limits(runs_per_day=3)
    for number, runs in enumerate(groups):
        member(alice, f"group {number}", runs_per_day=runs, tokens_per_day=7)
    told = limits_of(client)
    assert told["runs_per_day"]["max"] == most
    assert told["tokens_per_day"]["max"] == (7 if groups else None)


def test_superusers_have_no_daily_limits(db: None) -> None:
    factories.set_default_limits(runs_per_day=1)
    root = factories.create_user("root", is_superuser=True)
    assert limits_of(factories.api_client(root))["runs_per_day"]["max"] is None


# Shown before


def test_what_is_used_is_shown_before_it_is_used_up(client: APIClient, session: str) -> None:
    factories.set_default_limits(runs_per_day=10, tokens_per_day=1000)
    answer(client, session, 900)
    told = limits_of(client)
    resets_at = told["runs_per_day"]["resets_at"]
    of_today = {"resets_at": resets_at, "is_estimated": False}
    assert told["runs_per_day"] == {"used": 1, "max": 10, "unit": "runs", **of_today}
    assert told["tokens_per_day"] == {"used": 900, "max": 1000, "unit": "tokens", **of_today}
    assert told["cost_per_day"] == {"used": 0.0, "max": None, "unit": "cost", **of_today}
    assert datetime.fromisoformat(resets_at).time().isoformat() == "00:00:00"
    assert timedelta() < datetime.fromisoformat(resets_at) - datetime.now(UTC) <= timedelta(days=1)
