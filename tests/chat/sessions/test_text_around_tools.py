"""Whatever shows an answer without its tools puts a paragraph break where they ran."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from chat.models import Run, ToolCall
from features.titles import generation
from tests import factories

pytestmark = pytest.mark.django_db

STORED = "Let me look that up.A branching tree."
READABLE = "Let me look that up.\n\nA branching tree."


@pytest.fixture
def client() -> APIClient:
    factories.create_model("quick", is_default=True)
    return factories.api_client(factories.create_user("alice"))


@pytest.fixture
def run(client: APIClient) -> Run:
    """Of an answer whose model called two tools side by side, and wrote before and after that."""
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    started = factories.send_turn(client, session, "How is it stored?").json()
    run = factories.finish_run(started["runs"][0]["id"], STORED)
    for tab in range(2):
        ToolCall.objects.create(
            run=run, message=run.message, turn_number=0, tab_index=tab, tool_call_id=f"c{tab}",
            name="web_search", text_before="Let me look that up.", status="completed", response="Found.",
        )  # fmt: skip
    return run


def test_in_the_markdown_export(client: APIClient, run: Run) -> None:
    response: Any = client.get(f"/api/sessions/{run.turn.session_id}/export/", {"as": "markdown"})
    assert f"\n{READABLE}\n" in b"".join(response.streaming_content).decode()


def test_on_the_shared_page(client: APIClient, run: Run) -> None:
    made = client.post(f"/api/sessions/{run.turn.session_id}/shares/", {}, format="json").json()
    page = Client().get(made["url"]).content.decode()
    found = re.search(r'<script id="shown" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    assert json.loads(found[1])["messages"][-1]["text"] == READABLE


def test_around_a_match_of_a_search(client: APIClient, run: Run) -> None:
    [found] = client.get("/api/sessions/", {"search": "branching"}).json()["results"]
    assert found["match"] == READABLE


def test_in_what_a_model_is_shown_for_a_title(run: Run) -> None:
    untitled = generation._load(str(run.pk))
    assert untitled is not None
    assert untitled.answer == READABLE


def test_in_the_admin(run: Run) -> None:
    staff = factories.staff_client("view_chatmessage", "view_session")
    listed = staff.get(reverse("admin:chat_chatmessage_changelist")).content.decode()
    assert READABLE in listed
    tree = staff.get(reverse("admin:chat_session_change", args=[run.turn.session_id])).content.decode()
    assert f'<div class="text">{READABLE}</div>' in tree


def test_the_api_keeps_what_was_streamed(client: APIClient, run: Run) -> None:
    _, answer = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()
    assert answer["text"] == STORED
