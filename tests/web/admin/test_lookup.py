"""The admin's lookup: a pasted id, reference or log line leads to the page of what it names."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Run, ToolCall, Turn
from tests import factories
from web.admin.read_only import admin_url

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return factories.queued_run()


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def look_up(client: Client, words: str) -> Any:
    return client.get(reverse("admin:lookup"), {"q": words})


@pytest.mark.parametrize(
    "words",
    [
        "{run.pk}",
        "  {run.pk} ",
        "{reference}",
        "reference {reference}, if you please",
        "{run.message_id}",
        "WARNING llm_worker: run {run.pk} of session {run.turn.session_id} failed: status 401",
        pytest.param(" ".join(["words"] * 100) + " [run={run.pk} attempt=1]", id="at the end of a long line"),
    ],
)
def test_whatever_names_a_run_leads_to_its_page(run: Run, staff: Client, words: str) -> None:
    answer = look_up(staff, words.format(run=run, reference=str(run.pk)[:8].upper()))
    assert (answer.status_code, answer.get("Location")) == (302, admin_url(run))


def test_the_id_of_a_request_leads_to_the_run_that_it_caused(run: Run, staff: Client) -> None:
    Turn.objects.filter(pk=run.turn_id).update(request_id="mine-7.1")
    line = '{"level": "WARNING", "message": "upstream failed", "request_id": "mine-7.1"}'
    for words in ("mine-7.1", line):
        assert look_up(staff, words)["Location"] == admin_url(run)


def test_ids_of_other_rows_lead_to_their_pages(run: Run, staff: Client) -> None:
    call = ToolCall.objects.create(run=run, message_id=run.message_id, turn_number=1, name="t")
    for row in (call, run.turn, run.turn.session, run.turn.user_message):
        assert look_up(staff, str(row.pk))["Location"] == admin_url(row)


def test_two_runs_are_listed(run: Run, staff: Client) -> None:
    alice = factories.api_client(run.turn.session.owner)
    session = alice.post("/api/sessions/", {}, format="json").json()["id"]
    other = Run.objects.get(pk=factories.send_turn(alice, session).json()["runs"][0]["id"])
    page = look_up(staff, f"{run.pk} {other.pk}").content.decode()
    assert admin_url(run) in page
    assert admin_url(other) in page


def test_nothing_found_says_so_and_offers_the_search_of_runs(staff: Client) -> None:
    page = look_up(staff, "upstream_auth <b>").content.decode()
    assert "Nothing that you may see has this id" in page
    assert "?q=upstream_auth%20%3Cb%3E" in page


def test_rows_that_staff_may_not_see_are_not_found(run: Run) -> None:
    client = factories.staff_client("view_session")
    assert look_up(client, f"{run.pk} {run.turn.session_id}")["Location"] == admin_url(run.turn.session)
    assert look_up(client, str(run.pk)).status_code == 200


def test_only_staff_look_things_up(run: Run, client: Client) -> None:
    client.force_login(factories.create_user("carol"))
    assert "/admin/login/" in look_up(client, str(run.pk))["Location"]


def test_every_page_of_the_admin_has_the_lookup(run: Run, staff: Client) -> None:
    for page in (reverse("admin:index"), admin_url(run), reverse("admin:usage")):
        assert f'action="{reverse("admin:lookup")}"' in staff.get(page).content.decode()


def test_text_without_ids_costs_one_query(staff: Client, django_assert_max_num_queries: Any) -> None:
    # The user, their session, runs by request id; as on every page, whether the tables of one row have it.
    with django_assert_max_num_queries(6):
        assert look_up(staff, "nothing of the kind").status_code == 200
