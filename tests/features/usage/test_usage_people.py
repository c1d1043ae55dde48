"""The admin's usage by user and group, on the page and as CSV files."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Run, SideRequest
from features.usage.report import PersonRow
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
HEAD = ["runs", "failed", "requests", "prompt_tokens", "completion_tokens", "cost", "currency"]


@pytest.fixture
def staff() -> Client:
    return factories.staff_client("view_run", name="root")


@pytest.fixture
def users() -> dict[str, User]:
    """alice with two runs, of which one failed, and a title; =bob with a run without a known price."""
    alice, session = factories.session_of_alice()
    use(alice, session, prompt_tokens=100, completion_tokens=10, cost=Decimal("0.5"))
    run = use(alice, session, prompt_tokens=20, completion_tokens=1, cost=Decimal("0.25"))
    Run.objects.filter(pk=run.pk).update(status="failed", error_code="upstream_auth")
    SideRequest.objects.create(
        purpose="title",
        run=run,
        session_id=session,
        model="quick",
        prompt_tokens=5,
        completion_tokens=2,
        sent_at=timezone.now(),
    )
    bob = factories.create_user("=bob")
    client = factories.api_client(bob)
    use(
        client,
        client.post("/api/sessions/", {}, format="json").json()["id"],
        prompt_tokens=7,
        completion_tokens=3,
    )
    return {"alice": User.objects.get(username="alice"), "bob": bob}


def use(client: Any, session: str, **fields: Any) -> Run:
    run = factories.finish_run(factories.send_turn(client, session).json()["runs"][0]["id"])
    Run.objects.filter(pk=run.pk).update(**{"cost": None, **fields})
    return run


def tables(staff: Client) -> dict[str, list[PersonRow]]:
    shown = staff.get(reverse("admin:usage")).context["people"]
    return {by: list(rows) for by, _title, rows in shown}


def file(staff: Client, by: str, **query: str) -> list[list[str]]:
    response = staff.get(reverse("admin:usage_file", args=[by]), query)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert f"usage-{by}-{timezone.now().date()}.csv" in response["Content-Disposition"]
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_users_are_listed_by_cost_with_their_runs_and_tokens(staff: Client, users: dict[str, User]) -> None:
    assert tables(staff) == {
        "users": [
            PersonRow("alice", 2, 1, 1, 125, 13, Decimal("0.75")),
            PersonRow("=bob", 1, 0, 0, 7, 3, None),
        ]
    }
    Run.objects.filter(turn__session__owner=users["bob"]).update(is_imported=True)
    assert [row.name for row in tables(staff)["users"]] == ["alice"]


def test_a_user_counts_in_each_group_and_others_in_none(staff: Client, users: dict[str, User]) -> None:
    for name in ("Pilots", "Crew"):
        Group.objects.create(name=name).user_set.add(users["alice"])
    groups = tables(staff)["groups"]
    assert [(row.name, row.runs, row.cost) for row in groups] == [
        ("Crew", 2, Decimal("0.75")),
        ("Pilots", 2, Decimal("0.75")),
        (None, 1, None),
    ]
    page = staff.get(reverse("admin:usage")).content.decode()
    assert "in no group" in page
    assert f"{reverse('admin:usage_file', args=['groups'])}?days=30" in page


def test_the_files_have_what_the_page_shows_with_the_currency(
    staff: Client, users: dict[str, User], settings: Any
) -> None:
    settings.CURRENCY = "EUR"
    assert file(staff, "users") == [
        ["user", *HEAD],
        ["alice", "2", "1", "1", "125", "13", "0.750000000", "EUR"],
        ["'=bob", "1", "0", "0", "7", "3", "", "EUR"],
    ]
    head, *rows = file(staff, "days", days="7")
    assert (head[:3], head[-2:]) == (["day", "model", "purpose"], ["cost", "currency"])
    assert [(row[1], row[2], row[-1]) for row in rows] == [
        ("quick", "answers", "EUR"),
        ("quick", "titles", "EUR"),
    ]
    assert file(staff, "groups") == [["group", *HEAD]]
    assert "Cost (EUR)" in staff.get(reverse("admin:usage")).content.decode()
    Run.objects.update(ended_at=timezone.now() - timedelta(days=20))
    SideRequest.objects.all().delete()
    assert len(file(staff, "users", days="7")) == 1
    assert len(file(staff, "users", days="30")) == 3


def test_only_who_may_see_runs_gets_the_files() -> None:
    url = reverse("admin:usage_file", args=["users"])
    assert factories.staff_client("view_session").get(url).status_code == 403
    assert Client().get(url).status_code == 302
    assert factories.staff_client("view_run", name="carol").get(url.replace("users", "x")).status_code == 404
