"""The admin of compressions: what a summary covers and saves, repeating one, deleting one."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.compressions import requests as compression_requests
from chat.compressions import summaries
from chat.compressions.requests import CompressionUsage, NewSummary
from chat.models import ChatMessage, Compression, Role, Run
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def done() -> Compression:
    """alice's two turns, the first summarised."""
    client, session = factories.session_of_alice()
    first, _ = factories.complete_turn(client, session), factories.complete_turn(client, session, "And now?")
    client.post(f"/api/sessions/{session}/compression/", {}, format="json")
    held = Compression.objects.claim(Compression.objects.get().pk, owner=1)
    assert held
    assert compression_requests.start(held, tokens_before=900, reserved_tokens=250, history_window=750)
    cutoff = first["runs"][0]["message"]
    assert compression_requests.finish(
        held, NewSummary(cutoff, "They <b>greeted</b>.", 3, 300), CompressionUsage(700, 30)
    )
    return Compression.objects.get()


def act(client: Client, action: str, row: Compression) -> str:
    url = reverse("admin:chat_compression_changelist")
    response: Any = client.post(url, {"action": action, "_selected_action": [row.pk]}, follow=True)
    return response.content.decode()


def page(client: Client, row: Any) -> str:
    name = row._meta.model_name
    return client.get(reverse(f"admin:chat_{name}_change", args=[row.pk])).content.decode()


def test_the_page_shows_what_is_covered_saved_and_reserved(done: Compression) -> None:
    shown = page(factories.staff_client("view_compression"), done)
    assert "They &lt;b&gt;greeted&lt;/b&gt;." in shown
    for text in ("600", "25%", "user", "quick"):
        assert text in shown
    assert Compression.objects.values_list("summary__last_summarized_message", flat=True).get()


def test_a_summary_is_a_message_with_its_parent_its_cutoff_and_its_trigger(done: Compression) -> None:
    summary = ChatMessage.objects.get(role=Role.SUMMARY)
    client = factories.staff_client("view_chatmessage", "view_compression")
    shown = page(client, summary)
    assert str(summary.parent_id) in shown
    assert str(summary.last_summarized_message_id) in shown
    assert '<div class="readonly">2</div>' in shown  # covered messages
    assert "900" in shown


def test_a_session_tells_how_often_it_is_compressed(done: Compression) -> None:
    shown = page(factories.staff_client("view_session", "view_compression"), done.session)
    assert "Compressions per 20 turns" in shown
    assert "10.0" in shown


def test_a_branch_is_compressed_again(done: Compression) -> None:
    client = factories.staff_client("view_compression", "change_compression")
    assert f"Compress again {done.pk}: queued" in act(client, "run_again", done)
    again = Compression.objects.get(status="queued")
    assert (again.triggered_by, again.leaf, again.parent) == ("staff", done.leaf, done.parent)
    assert "one is under way" in act(client, "run_again", done)


def test_a_deleted_summary_is_not_used_and_the_conversation_stays(done: Compression) -> None:
    replies = set(ChatMessage.objects.replies().values_list("pk", flat=True))
    client = factories.staff_client("view_compression", "change_compression")
    assert f"Delete the summary {done.pk}: deleted" in act(client, "delete_summary", done)
    assert summaries.find_summary_for_branch(done.leaf) is None
    assert set(ChatMessage.objects.replies().values_list("pk", flat=True)) == replies
    assert Compression.objects.get().summary is None
    assert "there is none" in act(client, "delete_summary", done)
    assert Run.objects.count() == 2


@pytest.mark.parametrize("action", ["run_again", "delete_summary"])
def test_who_may_only_look_can_do_neither(done: Compression, action: str) -> None:
    act(factories.staff_client("view_compression"), action, done)
    assert Compression.objects.get().summary
