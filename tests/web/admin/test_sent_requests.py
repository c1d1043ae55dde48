"""The admin shows the requests sent to models, cycle by cycle, read-only."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Run, SentRequest
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """The requests of two cycles."""
    client, session = factories.session_of_alice()
    [run] = factories.complete_turn(client, session)["runs"]
    kept = {"run_id": run["id"], "attempt": 1, "tokens": 4321, "sent_at": timezone.now()}
    asked = {"role": "user", "content": "Why <b>two</b> tides?"}
    found = {"role": "tool", "content": "Two bulges."}
    SentRequest.objects.create(**kept, cycle=1, common=0, messages=[asked], prefix_share=0.25)
    left_out = [
        {"why": "budget", "count": 3, "tokens": 77, "what": [str(session)]},
        {"why": "file", "what": ["a.txt"]},
    ]
    SentRequest.objects.create(
        **kept, cycle=2, common=1, messages=[found], prefix_share=0.75, parts=[["TR", 17]],
        account={"window": 9000, "output": 10, "schemas": 5, "budget": 8540, "left_out": left_out},
    )  # fmt: skip
    return Run.objects.get(pk=run["id"])


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("bob", is_staff=True, is_superuser=True))
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


def test_a_request_tells_what_it_was_weighed_against_and_what_it_left_out(staff: Client, run: Run) -> None:
    shown = page(staff, run.sent_requests.get(cycle=2))
    for part in (
        "8540",
        "9000",
        "tool response",
        "17 tokens",
        "history over the budget",
        "77 tokens",
        "a.txt",
    ):
        assert part in shown


def test_one_from_before_that_was_noted_says_so(staff: Client, run: Run) -> None:
    assert "Nobody noted it." in page(staff, run.sent_requests.get(cycle=1))


def test_what_the_server_knew_is_folded(staff: Client, run: Run) -> None:
    sent = run.sent_requests.get(cycle=2)
    context = staff.get(reverse("admin:chat_sentrequest_change", args=[sent.pk])).context
    assert [part.text for part in context["known"]] == ["Why <b>two</b> tides?"]
    assert [part.text for part in context["fresh"]] == ["Two bulges."]
    assert context["before"] == run.sent_requests.get(cycle=1).pk


@pytest.mark.parametrize("action", ["change", "delete"])
def test_a_sent_request_cannot_be_changed_or_deleted(staff: Client, run: Run, action: str) -> None:
    url = reverse(f"admin:chat_sentrequest_{action}", args=[run.sent_requests.get(cycle=1).pk])
    assert staff.post(url, {"tokens": 1, "post": "yes"}).status_code == 403


def test_requests_are_found_by_run_and_by_owner(staff: Client, run: Run) -> None:
    url = reverse("admin:chat_sentrequest_changelist")
    for words, found in ((str(run.pk), 2), ("alice", 2), ("mallory", 0)):
        assert staff.get(url, {"q": words}).context["cl"].result_count == found


def sections_of(staff: Client, sent: SentRequest) -> list[tuple[str, list[str]]]:
    context = staff.get(reverse("admin:chat_sentrequest_change", args=[sent.pk])).context
    return [(one.kind, [message.text for message in one.messages]) for one in context["sections"]]


def test_a_request_is_compared_with_that_of_the_cycle_before(staff: Client, run: Run) -> None:
    SentRequest.objects.update(account={})
    same, added = sections_of(staff, run.sent_requests.get(cycle=2))
    assert (same[0], same[1][1:]) == ("same", ["Why <b>two</b> tides?"])
    assert added == ("added", ["Two bulges."])


def test_the_first_request_of_a_run_is_compared_with_the_last_one_of_the_session(
    staff: Client, run: Run
) -> None:
    SentRequest.objects.update(account={})
    started = factories.send_turn(factories.api_client(run.turn.session.owner), run.turn.session_id)
    asked = [{"role": "user", "content": text} for text in ("Why <b>two</b> tides?", "And the Sun?")]
    later = SentRequest.objects.create(
        run_id=started.json()["runs"][0]["id"], attempt=1, cycle=1, common=0, messages=asked, tokens=1,
        prefix_share=0, sent_at=timezone.now(),
    )  # fmt: skip
    kinds = [kind for kind, _texts in sections_of(staff, later)]
    assert kinds == ["same", "removed", "added"]
    assert "And the Sun?" in page(staff, later)


def test_a_request_without_an_earlier_one_says_so(staff: Client, run: Run) -> None:
    assert "No earlier request of this session is kept." in page(staff, run.sent_requests.get(cycle=1))
