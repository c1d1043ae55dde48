"""The admin's search by user, text, id and error code; the number of queries does not grow with the rows."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import ChatMessage, Run, Session, Share
from tests import factories
from web.admin import read_only

pytestmark = pytest.mark.django_db
LISTS = (
    "session",
    "chatmessage",
    "turn",
    "run",
    "toolcall",
    "sentrequest",
    "compression",
    "feedback",
    "agent",
)


@pytest.fixture
def run() -> Run:
    """alice's failed run about tides; bob has one about pasta."""
    client, session = factories.session_of_alice()
    Session.objects.filter(pk=session).update(title="Two bulges")
    started = factories.complete_turn(client, session, "Why are there two tides?")
    bob = factories.api_client(factories.create_user("bob"))
    factories.complete_turn(
        bob, bob.post("/api/sessions/", {}, format="json").json()["id"], "How long does pasta take?"
    )
    run = Run.objects.get(pk=started["runs"][0]["id"])
    Run.objects.filter(pk=run.pk).update(status="failed", error_code="upstream_timeout")
    return run


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def found(staff: Client, name: str, words: str, **filters: str) -> list[Any]:
    url = reverse(f"admin:chat_{name}_changelist")
    return list(staff.get(url, {"q": words, **filters}).context["cl"].result_list)


@pytest.mark.parametrize(
    ("name", "words", "number"),
    [
        ("session", "alice", 1),
        ("session", "ALICE", 1),
        ("session", "bulges", 1),
        ("session", "alice pasta", 0),
        ("session", "ali", 0),
        ("chatmessage", "alice", 2 + 1),
        ("chatmessage", "pasta", 2),
        ("chatmessage", "alice tides", 2),
        ("chatmessage", '"two tides"', 2),
        ("chatmessage", "bob tides", 0),
        ("turn", "tides", 1),
        ("run", "bob", 1),
        ("run", "upstream_timeout", 1),
        ("run", "alice upstream_timeout", 1),
        ("run", "bob upstream_timeout", 0),
        ("run", "%", 0),
    ],
)
def test_rows_are_found_by_user_text_and_error(
    staff: Client, run: Run, name: str, words: str, number: int
) -> None:
    assert len(found(staff, name, words)) == number


@pytest.mark.parametrize("name", ["session", "turn", "run"])
def test_each_is_found_by_the_id_of_anything_around_it(staff: Client, run: Run, name: str) -> None:
    one = {"session": run.turn.session, "turn": run.turn, "run": run}[name]
    for around in (run.turn.session, run.turn, run, run.message):
        assert found(staff, name, str(around.pk)) == [one]
    assert found(staff, name, "5e551011-0000-4000-8000-000000000000") == []


def test_a_message_is_found_by_its_run_and_filters_narrow(staff: Client, run: Run) -> None:
    assert found(staff, "chatmessage", str(run.pk)) == [run.message]
    assert found(staff, "run", "", error_code="upstream_timeout") == [run]
    assert found(staff, "run", "", model="nobody") == []
    assert found(staff, "run", "", taken_over="yes") == []


@pytest.mark.parametrize("name", LISTS)
def test_a_longer_list_takes_no_more_queries(staff: Client, run: Run, name: str) -> None:
    url = reverse(f"admin:chat_{name}_changelist")
    staff.get(url)
    with CaptureQueriesContext(connection) as before:
        staff.get(url)
    alice = factories.api_client(run.turn.session.owner)
    for number in range(4):
        session = alice.post("/api/sessions/", {}, format="json").json()["id"]
        factories.complete_turn(alice, session, f"And {number}?")
    with CaptureQueriesContext(connection) as after:
        staff.get(url)
    assert len(after) == len(before)


def test_a_large_table_is_not_counted(monkeypatch: pytest.MonkeyPatch, staff: Client, run: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE chat_chatmessage")
    monkeypatch.setattr(read_only, "MIN_ESTIMATE", 1)
    monkeypatch.setattr(read_only, "MAX_COUNTED", 2)
    url = reverse("admin:chat_chatmessage_changelist")
    assert staff.get(url).context["cl"].result_count == ChatMessage.objects.count() == 6
    with CaptureQueriesContext(connection) as queries:
        assert staff.get(url, {"role__exact": "user"}).context["cl"].result_count == 2
    counts = [query["sql"] for query in queries if "COUNT(*)" in query["sql"]]
    assert all("LIMIT 2" in count for count in counts)


def test_staff_close_what_is_shared_and_never_see_its_link(staff: Client, run: Run) -> None:
    share = Share.objects.start(run.message, shows_details=True)
    assert found(staff, "share", "alice") == found(staff, "share", str(share.session_id)) == [share]
    page = staff.get(reverse("admin:chat_share_change", args=[share.pk])).content.decode()
    assert share.token
    assert share.token not in page
    assert share.digest not in page
    staff.post(reverse("admin:chat_share_act", args=[share.pk, "revoke"]))
    assert Share.objects.open().count() == 0
    assert found(staff, "share", "", revoked_at__isempty="1") == []
