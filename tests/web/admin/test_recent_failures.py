"""The start page of the admin counts the failures of the latest day by error code, and leads to these runs."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import McpServer, Run, ToolCall
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def fail_runs(*failures: tuple[str, int]) -> None:
    """Each: the code, and how many hours ago."""
    client, session = factories.session_of_alice()
    for code, hours in failures:
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        ended = timezone.now() - timedelta(hours=hours)
        Run.objects.filter(pk=run).update(status="failed", error_code=code, ended_at=ended, last_seq=1)


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def test_failures_are_counted_by_code_and_lead_to_their_runs(staff: Client) -> None:
    fail_runs(("upstream_auth", 1), ("upstream_auth", 23), ("upstream_auth", 25), ("worker_lost", 2))
    response = staff.get(reverse("admin:index"))
    counted = response.context["recent_failures"]
    assert [(one.code, one.runs) for one in counted] == [("upstream_auth", 2), ("worker_lost", 1)]
    for one in counted:
        listed = staff.get(one.url).context["cl"].queryset
        assert listed.count() == one.runs
        assert {run.error_code for run in listed} == {one.code}


def test_failures_are_told_in_words(staff: Client) -> None:
    fail_runs(("upstream_auth", 1))
    for name in ("index", "usage"):
        page = staff.get(reverse(f"admin:{name}")).content.decode()
        assert ">The model server refused the credentials.</a>" in page


def test_tools_that_failed_are_listed_and_lead_to_their_calls(staff: Client) -> None:
    run = factories.queued_run()
    ended = [
        ("search", "failed"),
        ("notes", "completed"),
        ("notes", "failed"),
        ("notes", "failed"),
        ("clock", "completed"),
    ]
    for number, (name, status) in enumerate(ended):
        ToolCall.objects.create(
            run=run, message=run.message, turn_number=number, tool_call_id="c", name=name, status=status
        )
    failing = staff.get(reverse("admin:index")).context["failing_tools"]
    assert [(one.name, one.failed, one.calls) for one in failing] == [("notes", 2, 3), ("search", 1, 1)]
    for one in failing:
        assert staff.get(one.url).context["cl"].queryset.count() == one.failed
    shown = factories.staff_client("view_run", name="carol").get(reverse("admin:index"))
    assert [one.url for one in shown.context["failing_tools"]] == ["", ""]


def test_servers_of_tools_that_are_down_are_listed(staff: Client) -> None:
    given = {"transport": "stdio", "command": ["npx"]}
    down = McpServer.objects.create(name="notes", problem="It cannot be reached.", **given)
    McpServer.objects.create(name="mail", status="ready", **given)
    McpServer.objects.create(name="old", is_enabled=False, **given)
    response = staff.get(reverse("admin:index"))
    assert response.context["servers_down"] == [down]
    assert "It cannot be reached." in response.content.decode()
    assert (
        "notes"
        not in factories.staff_client("view_run", name="carol").get(reverse("admin:index")).content.decode()
    )


def test_a_day_without_failures_says_so(staff: Client) -> None:
    assert "No run failed." in staff.get(reverse("admin:index")).content.decode()


def test_staff_who_may_not_view_runs_are_told_nothing_of_them(client: Client) -> None:
    fail_runs(("upstream_auth", 1))
    client.force_login(factories.create_user("bob", is_staff=True))
    assert "upstream_auth" not in client.get(reverse("admin:index")).content.decode()
