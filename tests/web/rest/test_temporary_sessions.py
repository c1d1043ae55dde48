"""Temporary chats: in no list, put nowhere that outlives them, kept on request, and deleted for good."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from chat.events import session_list
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log
from chat.models import ChatMessage, DailyUse, MessageFile, SentRequest, Session
from features.titles import turn_part
from knowledge.models import File
from tests import factories
from tests.features.transfer.test_account_archive import download

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(alice: Any) -> APIClient:
    return factories.api_client(alice)


@pytest.fixture
def temporary(client: APIClient) -> str:
    return begin(client)


def begin(client: APIClient, **fields: Any) -> str:
    answer = client.post("/api/sessions/", {"is_temporary": True, **fields}, format="json")
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["id"])


def listed(client: APIClient, **query: Any) -> list[str]:
    return [row["id"] for row in client.get("/api/sessions/", query).json()["results"]]


def patch(client: APIClient, session: str, **fields: Any) -> Any:
    return client.patch(f"/api/sessions/{session}/", fields, format="json")


def test_no_list_and_no_search_has_a_temporary_chat(client: APIClient, temporary: str) -> None:
    factories.complete_turn(client, temporary, "Where do quokkas sleep?")
    assert client.get(f"/api/sessions/{temporary}/").json()["is_temporary"] is True
    for query in ({}, {"search": "quokkas"}, {"archived": 1}, {"archived": 0}, {"pinned": 0}):
        assert listed(client, **query) == [], query
    assert factories.message_texts(client, temporary)[0] == "Where do quokkas sleep?"


def test_lists_are_not_told_of_a_temporary_chat_until_it_is_kept(alice: Any, client: APIClient) -> None:
    with sync_redis().pubsub() as pubsub:
        pubsub.subscribe(session_list.channel_name(alice.pk))
        assert pubsub.get_message(timeout=10)["type"] == "subscribe"
        temporary = begin(client)
        factories.complete_turn(client, temporary)
        client.put(f"/api/sessions/{temporary}/seen/", {}, format="json")
        assert patch(client, temporary, is_temporary=False).json()["is_temporary"] is False
        line = pubsub.get_message(timeout=10)["data"]
    assert b'"session_changed"' in line
    assert temporary.encode() in line
    assert listed(client) == [temporary]


def test_nothing_of_a_temporary_chat_is_put_where_it_would_outlive_it(
    client: APIClient, temporary: str
) -> None:
    turn = factories.complete_turn(client, temporary)
    project = client.post("/api/projects/", {"name": "Tides"}, format="json").json()["id"]
    answer = turn["runs"][0]["message"]
    refusals = {
        "project": patch(client, temporary, project=project),
        "is_pinned": patch(client, temporary, is_pinned=True),
        "is_archived": patch(client, temporary, is_archived=True),
        "share": client.post(f"/api/sessions/{temporary}/shares/", {}, format="json"),
        "fork": client.post(f"/api/sessions/{temporary}/fork/", {"message": answer}, format="json"),
        "export": client.get(f"/api/sessions/{temporary}/export/"),
        "markdown": client.get(f"/api/sessions/{temporary}/export/?as=markdown"),
        "created in a project": client.post(
            "/api/sessions/", {"is_temporary": True, "project": project}, format="json"
        ),
    }
    for what, refused in refusals.items():
        assert (refused.status_code, refused.json()["code"]) == (409, "temporary_session"), what
    archived = client.post("/api/sessions/bulk/", {"ids": [temporary], "action": "archive"}, format="json")
    assert archived.json()["code"] == "session_not_found"


def test_the_export_of_an_account_has_no_temporary_chat(
    alice: Any, client: APIClient, temporary: str
) -> None:
    kept = client.post("/api/sessions/", {}, format="json").json()["id"]
    content = download(alice)["chats.json"].decode()
    assert kept in content
    assert temporary not in content


def test_a_chat_becomes_temporary_only_when_it_is_created(client: APIClient) -> None:
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    refused = patch(client, session, is_temporary=True).json()
    assert (refused["code"], refused["field"]) == ("invalid_value", "is_temporary")
    for wrong in ("yes", 1, None):
        assert patch(client, session, is_temporary=wrong).status_code == 400
    assert patch(client, session, is_temporary=False).json()["is_temporary"] is False


def test_a_kept_chat_is_one_like_the_others_and_is_named_after_its_next_answer(
    client: APIClient, temporary: str, settings: Any, monkeypatch: Any
) -> None:
    settings.TITLES = True
    asked: list[str] = []
    monkeypatch.setattr(turn_part, "_enqueue_title", lambda run: asked.append(str(run.turn.session_id)))
    factories.complete_turn(client, temporary)
    assert asked == []
    project = client.post("/api/projects/", {"name": "Tides"}, format="json").json()["id"]
    kept = patch(client, temporary, is_temporary=False, project=project)
    assert (kept.status_code, kept.json()["project"]) == (200, project)
    assert listed(client, project=project) == [temporary]
    factories.complete_turn(client, temporary, "And then?")
    assert asked == [temporary]
    assert client.post(f"/api/sessions/{temporary}/shares/", {}, format="json").status_code == 201


def test_a_deleted_temporary_chat_leaves_what_was_spent_and_nothing_else(
    alice: Any, client: APIClient, temporary: str
) -> None:
    file = File.objects.create(owner=alice, name="tides.txt", kind="text", status="ready", text="Low water")
    other = File.objects.create(owner=alice, name="bread.txt", kind="text", status="ready", text="Flour")
    normal = client.post("/api/sessions/", {}, format="json").json()["id"]
    turn = factories.complete_turn(client, temporary, "A secret")
    factories.complete_turn(client, normal, "Bread")
    secret = ChatMessage.objects.get(session=temporary, role="user")
    for position, one in enumerate((file, other)):
        MessageFile.objects.create(message=secret, file=one, position=position)
    question = ChatMessage.objects.get(session=normal, role="user")
    MessageFile.objects.create(message=question, file=other, position=0)
    SentRequest.objects.create(
        run_id=turn["runs"][0]["id"], attempt=1, cycle=1, common=0, messages=["A secret"], tokens=2,
        prefix_share=0.0, sent_at=timezone.now(),
    )  # fmt: skip
    assert client.delete(f"/api/sessions/{temporary}/").status_code == 204
    assert list(Session.with_trash.values_list("pk", flat=True)) == [Session.objects.get(pk=normal).pk]
    assert not ChatMessage.objects.filter(text="A secret").exists()
    assert not SentRequest.objects.exists()
    assert list(File.objects.values_list("name", flat=True)) == ["bread.txt"]
    assert not sync_redis().exists(event_log(temporary).entries)
    assert client.get("/api/trash/").json()["results"] == []
    assert DailyUse.objects.get(user=alice).runs == 2


def test_another_user_finds_no_temporary_chat(temporary: str) -> None:
    other = factories.api_client(factories.create_user("mallory"))
    assert patch(other, temporary, is_temporary=False).status_code == 404
    assert other.delete(f"/api/sessions/{temporary}/").status_code == 404
    assert other.get(f"/api/sessions/{temporary}/").status_code == 404
    assert Session.objects.get(pk=temporary).is_temporary


def test_temporary_chats_count_for_the_quota(client: APIClient, settings: Any) -> None:
    settings.MAX_SESSIONS_PER_USER = 1
    begin(client)
    refused = client.post("/api/sessions/", {"is_temporary": True}, format="json")
    assert refused.json()["code"] == "too_many_sessions"


def test_an_instance_may_have_none(client: APIClient, settings: Any) -> None:
    settings.TEMPORARY_CHAT_MINUTES = 0
    refused = client.post("/api/sessions/", {"is_temporary": True}, format="json").json()
    assert (refused["code"], refused["field"]) == ("invalid_value", "is_temporary")


def test_staff_export_no_temporary_chat_and_find_none_that_is_deleted(
    client: APIClient, temporary: str
) -> None:
    factories.complete_turn(client, temporary, "A secret")
    staff = factories.staff_client("view_session", "view_chatmessage")
    page = f"/admin/chat/session/{temporary}/change/"
    data = {"action": "export_json", "_selected_action": [temporary]}
    refused = staff.post("/admin/chat/session/", data, follow=True)
    assert "A temporary chat is not exported." in refused.content.decode()
    client.delete(f"/api/sessions/{temporary}/")
    for path in ("/admin/chat/session/?q=secret", "/admin/chat/chatmessage/?q=secret"):
        found = staff.get(path).content.decode()
        assert temporary not in found, path
    assert staff.get(page).status_code in (302, 404)


def test_a_temporary_chat_has_a_time_to_live_from_the_start(client: APIClient, settings: Any) -> None:
    settings.TEMPORARY_CHAT_MINUTES = 7
    until = Session.objects.get(pk=begin(client)).temporary_until
    assert until is not None
    assert timedelta(minutes=6) < until - timezone.now() <= timedelta(minutes=7)
