"""The start page of the admin counts the failures of the latest day by error code, and leads to these runs."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Run
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


def test_a_day_without_failures_says_so(staff: Client) -> None:
    assert "No run failed." in staff.get(reverse("admin:index")).content.decode()


def test_staff_who_may_not_view_runs_are_told_nothing_of_them(client: Client) -> None:
    fail_runs(("upstream_auth", 1))
    client.force_login(factories.create_user("bob", is_staff=True))
    assert "upstream_auth" not in client.get(reverse("admin:index")).content.decode()
