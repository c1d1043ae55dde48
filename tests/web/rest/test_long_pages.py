"""Pages of long rows end early, and whoever follows them reads every row once. A long branch is sent in parts."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from chat.models import Agent, ChatMessage, Session
from chat.presenters.page_bytes import PAGE_BYTES
from features.prompts.models import SavedPrompt
from knowledge.models import KnowledgeBase, Project
from tests import factories
from tests.asgi_requests import AsgiRequest, stalled
from web.rest.request_slots import REQUESTS

pytestmark = pytest.mark.django_db

# Two fit a page, with the names of members.
LONG = "x" * (PAGE_BYTES // 2 - 100)
ROWS = 5


def store(user: User, path: str) -> None:
    deleted = {"deleted_at": timezone.now(), "purge_at": timezone.now() + timedelta(days=1)}
    for _ in range(ROWS):
        match path:
            case "agents":
                Agent.objects.create(owner=user, name="long", prompt=LONG)
            case "prompts":
                SavedPrompt.objects.create(owner=user, name="long", text=LONG)
            case "projects":
                Project.objects.create(owner=user, name="long", instructions=LONG)
            case "knowledge-bases":
                KnowledgeBase.objects.start(user, name="long", summary=LONG)
            case _:
                Session.objects.start(user, title="long", prompt=LONG, **(deleted if path == "trash" else {}))


def pages(client: APIClient, address: str | None) -> Iterator[list[str]]:
    """The ids of each page, as far as pages follow."""
    while address:
        answer = client.get(address)
        found = answer.json()
        yield [row["id"] for row in (found["results"] if isinstance(found, dict) else found)]
        link = answer.headers.get("Link", "").partition(">")[0].removeprefix("<")
        address = found["next"] if isinstance(found, dict) else link


@pytest.mark.parametrize("path", ["agents", "prompts", "projects", "knowledge-bases", "sessions", "trash"])
def test_pages_of_long_rows_end_early_and_lead_on(client: APIClient, alice: User, path: str) -> None:
    store(alice, path)
    read = list(pages(client, f"/api/{path}/?limit=4"))
    assert [len(page) for page in read] == [2, 2, 1]
    assert len({row for page in read for row in page}) == ROWS


def test_pages_of_long_rows_lead_back(client: APIClient, alice: User) -> None:
    store(alice, "sessions")
    first, second, third = pages(client, "/api/sessions/")
    answer = client.get("/api/sessions/").json()
    for expected in (second, third):
        answer = client.get(answer["next"]).json()
        assert [row["id"] for row in answer["results"]] == expected
    for expected in (second, first):
        answer = client.get(answer["previous"]).json()
        assert [row["id"] for row in answer["results"]] == expected


def test_a_long_branch_is_sent_in_parts_that_are_one_array(client: APIClient, alice: User) -> None:
    session = Session.objects.start(alice)
    started = factories.complete_turn(client, str(session.pk), "question")
    path = f"/api/sessions/{session.pk}/messages/"
    short = client.get(path)
    ChatMessage.objects.filter(pk=started["runs"][0]["message"]).update(text="y" * 2 * PAGE_BYTES)
    for query in ("", "?limit=2"):
        long = client.get(path + query)
        assert long.streaming
        assert long.headers["Content-Type"] == short.headers["Content-Type"]
        whole = json.loads(long.getvalue())
        assert whole[0] == short.json()[0]
        assert whole[1] == short.json()[1] | {"text": "y" * 2 * PAGE_BYTES}


@pytest.mark.django_db(transaction=True)
def test_a_long_answer_keeps_its_slot_until_it_is_sent() -> None:
    user = factories.create_user("alice")
    store(user, "prompts")
    headers = {"Authorization": f"Token {AuthToken.objects.create(user)[1]}"}

    async def ask() -> None:
        request = AsgiRequest("/api/prompts/", headers, takes=2)
        async with stalled(request):
            assert REQUESTS._taken[user.pk] == 1
        assert not REQUESTS._taken

    async_to_sync(ask)()
    assert not REQUESTS._waiting


def test_short_answers_of_all_kinds_leave_no_slot(client: APIClient) -> None:
    client.get("/api/sessions/")
    client.get("/api/agents/nothing/")
    assert not REQUESTS._taken
