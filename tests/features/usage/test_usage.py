"""GET usage/: tokens and cost by day and model."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Run, TokenScope, TokenUse
from chat.models.token_scope import token_id
from tests import factories

MONDAY, TUESDAY = datetime(2026, 11, 16, 23, 59, tzinfo=UTC), datetime(2026, 11, 17, 0, 1, tzinfo=UTC)
WEEK = {"from": "2026-11-16", "to": "2026-11-22"}


def used(client: APIClient, session: str, model: str, ended_at: datetime, **fields: Any) -> None:
    """Store one finished run."""
    run = factories.complete_turn(client, session, models=[model])["runs"][0]["id"]
    Run.objects.filter(pk=run).update(ended_at=ended_at, **fields)


@pytest.fixture
def week(client: APIClient, session: str) -> None:
    used(client, session, "quick", MONDAY, prompt_tokens=100, completion_tokens=10, cost=Decimal("0.25"))
    used(client, session, "quick", MONDAY, prompt_tokens=50, cached_tokens=40, cost=Decimal("0.5"))
    used(client, session, "deep", MONDAY, prompt_tokens=7, reasoning_tokens=3)
    used(client, session, "quick", TUESDAY, prompt_tokens=1, cost=Decimal("0.000001"))


def read_usage(client: APIClient, **query: str) -> Any:
    return client.get("/api/usage/", query).json()


def test_runs_are_summed_by_day_and_model(client: APIClient, week: None) -> None:
    assert read_usage(client, **WEEK) == [
        {
            "day": "2026-11-16", "model": "deep", "purpose": "answers", "runs": 1, "requests": 0, "prompt_tokens": 7, "completion_tokens": 0,
            "cached_tokens": 0, "reasoning_tokens": 3, "estimated_tokens": 0, "cost": None,
        },
        {
            "day": "2026-11-16", "model": "quick", "purpose": "answers", "runs": 2, "requests": 0, "prompt_tokens": 150, "completion_tokens": 10,
            "cached_tokens": 40, "reasoning_tokens": 0, "estimated_tokens": 0, "cost": 0.75,
        },
        {
            "day": "2026-11-17", "model": "quick", "purpose": "answers", "runs": 1, "requests": 0, "prompt_tokens": 1, "completion_tokens": 0,
            "cached_tokens": 0, "reasoning_tokens": 0, "estimated_tokens": 0, "cost": 0.000001,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "prompts"),
    [
        ({"from": "2026-11-17", "to": "2026-11-17"}, [1]),
        ({"from": "2026-11-16", "to": "2026-11-16"}, [7, 150]),
        ({"from": "2026-11-16T23:58:00Z", "to": "2026-11-17T00:00:00Z"}, [7, 150]),
        ({"from": "2026-11-17T00:00:00", "to": "2026-11-18"}, [1]),
        # Postgres knows no time zone as far from UTC.
        ({"from": "2026-11-16T07:33:00-16:27", "to": "2026-11-18T16:00:00+23:00"}, [1]),
        ({"to": "2026-11-17"}, [7, 150, 1]),
        ({"to": "2026-12-17T00:00:30Z"}, [1]),
    ],
)
def test_days_and_times_bound_it(
    client: APIClient, week: None, query: dict[str, str], prompts: list[int]
) -> None:
    assert [row["prompt_tokens"] for row in read_usage(client, **query)] == prompts


def test_without_bounds_it_is_the_last_thirty_days(client: APIClient, session: str) -> None:
    factories.complete_turn(client, session)
    (today,) = read_usage(client)
    assert (today["model"], today["runs"], today["cost"]) == ("quick", 1, None)


def test_what_is_being_answered_is_not_counted_yet(client: APIClient, session: str) -> None:
    factories.send_turn(client, session)
    assert read_usage(client) == []


def test_others_see_nothing_of_it(client: APIClient, week: None) -> None:
    assert read_usage(factories.api_client(factories.create_user("mallory")), **WEEK) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-02-30"}, "to"),
        ({"to": ""}, "to"),
        ({"from": "2026-11-18", "to": "2026-11-17"}, "from"),
    ],
)
def test_what_is_no_time_is_refused(client: APIClient, query: dict[str, str], field: str) -> None:
    response = client.get("/api/usage/", query)
    error = response.json()
    assert (response.status_code, error["code"], error["field"]) == (400, "invalid_value", field)


def test_a_run_says_what_it_cost(client: APIClient, session: str) -> None:
    run = factories.complete_turn(client, session)["runs"][0]["id"]
    assert client.get(f"/api/runs/{run}/").json()["cost"] is None
    Run.objects.filter(pk=run).update(cost=Decimal("0.125"))
    assert client.get(f"/api/runs/{run}/").json()["cost"] == 0.125


def test_use_of_tokens_is_listed_by_day_for_their_user_alone(client: APIClient, alice: Any) -> None:
    (mine, _), (gone, _) = (TokenScope.objects.create_token(alice) for _ in range(2))
    other, _ = TokenScope.objects.create_token(factories.create_user("mallory"))
    for day in (date(2026, 3, 1), date(2026, 3, 2)):
        for row in (mine, gone, other):
            for _ in range(2):
                TokenUse.objects.create(
                    token=token_id(row.digest), day=day, runs=1, tokens=20, cost=Decimal("0.25")
                )
    gone.delete()
    used = {"token": str(token_id(mine.digest)), "runs": 2, "tokens": 40, "cost": 0.5}
    address = "/api/usage/tokens/"
    assert client.get(address, {"from": "2026-03-01", "to": "2026-03-02"}).json() == [
        {"day": "2026-03-01", **used},
        {"day": "2026-03-02", **used},
    ]
    assert client.get(address, {"from": "2026-03-02", "to": "2026-03-05"}).json() == [
        {"day": "2026-03-02", **used}
    ]
    assert client.get(address).json() == []
    assert client.get(address, {"from": "never"}).json()["field"] == "from"
