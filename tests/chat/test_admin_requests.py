"""Admins can read what a model was sent, cycle by cycle; nobody changes it."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Run, SentRequest
from tests.chat import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """Of two cycles."""
    client, session = cast.chat_of_alice()
    [run] = cast.talk(client, session)["runs"]
    kept = {"run_id": run["id"], "attempt": 1, "tokens": 4321, "sent_at": timezone.now()}
    asked = {"role": "user", "content": "Why <b>two</b> tides?"}
    found = {"role": "tool", "content": "Two bulges."}
    SentRequest.objects.create(**kept, cycle=1, common=0, messages=[asked], prefix_share=0.25)
    SentRequest.objects.create(**kept, cycle=2, common=1, messages=[found], prefix_share=0.75)
    return Run.objects.get(pk=run["id"])


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(cast.user("bob", is_staff=True, is_superuser=True))
    return client


def page(staff: Client, row: Any) -> str:
    url = reverse(f"admin:chat_{row._meta.model_name}_change", args=[row.pk])
    return staff.get(url).content.decode()


def test_a_run_lists_its_requests_and_what_it_used(staff: Client, run: Run) -> None:
    shown = page(staff, run)
    for part in ("4321", "0.25", "0.75", "Cost", "Cached tokens"):
        assert part in shown


def test_a_request_is_shown_whole_and_harmless(staff: Client, run: Run) -> None:
    shown = page(staff, run.sent_requests.get(cycle=2))
    assert "Why &lt;b&gt;two&lt;/b&gt; tides?" in shown
    assert "Two bulges." in shown
    assert "<b>two" not in shown


@pytest.mark.parametrize("action", ["change", "delete"])
def test_nobody_changes_or_deletes_one(staff: Client, run: Run, action: str) -> None:
    url = reverse(f"admin:chat_sentrequest_{action}", args=[run.sent_requests.get(cycle=1).pk])
    assert staff.post(url, {"tokens": 1, "post": "yes"}).status_code == 403


def test_requests_are_found_by_run_and_by_owner(staff: Client, run: Run) -> None:
    url = reverse("admin:chat_sentrequest_changelist")
    for words, found in ((str(run.pk), 2), ("alice", 2), ("mallory", 0)):
        assert staff.get(url, {"q": words}).context["cl"].result_count == found
