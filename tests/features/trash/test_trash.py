"""Chats that are deleted: hidden everywhere, restored as they were, and deleted for good when their time is over."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.deletion import Collector
from django.utils import timezone
from rest_framework.test import APIClient

from chat.events import session_events
from chat.models import ChatMessage, Run, Session, StoredBytes, ToolCall
from chat.protocol.states import Status
from chat.runs.cancellation import stop_abandoned_runs
from chat.sessions import deletion
from chat.sweeper.purging import TrashPurger
from tests import factories
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def answered(alice: Any) -> tuple[APIClient, str, dict[str, Any]]:
    """A client, its chat that was answered, and the turn."""
    client = factories.api_client(alice)
    session = client.post("/api/sessions/", {"title": "Tides"}, format="json").json()["id"]
    return client, session, factories.complete_turn(client, session, "When is low water?")


def trashed(client: APIClient) -> list[str]:
    return [row["id"] for row in client.get("/api/trash/").json()["results"]]


def test_a_deleted_chat_is_found_by_nothing_but_the_trash(answered: Any) -> None:
    client, session, turn = answered
    link = client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()["url"].split("/")[2]
    assert client.delete(f"/api/sessions/{session}/").status_code == 204
    run = turn["runs"][0]
    for path in (
        f"sessions/{session}/",
        f"sessions/{session}/messages/",
        f"sessions/{session}/tree/",
        f"sessions/{session}/export/",
        f"runs/{run['id']}/",
        f"shared/{link}/",
    ):
        assert client.get(f"/api/{path}").status_code == 404, path
    assert client.put(f"/api/messages/{run['message']}/selection/").status_code in (404, 405)
    assert client.get("/api/sessions/", {"search": "water"}).json()["results"] == []
    assert client.get("/api/sessions/", {"archived": 1}).json()["results"] == []
    assert trashed(client) == [session]
    again = client.delete(f"/api/sessions/{session}/")
    assert (again.status_code, again.json()["code"]) == (404, "session_not_found")


def test_a_restored_chat_is_as_it_was(answered: Any) -> None:
    client, session, _ = answered
    client.patch(f"/api/sessions/{session}/", {"is_pinned": True}, format="json")
    before = client.get(f"/api/sessions/{session}/").json()
    messages = client.get(f"/api/sessions/{session}/messages/").json()
    client.delete(f"/api/sessions/{session}/")
    restored = client.post(f"/api/trash/{session}/restoration/")
    assert (restored.status_code, restored.json()) == (200, before)
    assert client.get(f"/api/sessions/{session}/messages/").json() == messages
    assert trashed(client) == []
    assert client.post(f"/api/trash/{session}/restoration/").json()["code"] == "session_not_found"


def test_deleting_for_good_leaves_nothing_to_restore(answered: Any) -> None:
    client, session, _ = answered
    other = client.post("/api/sessions/", {}, format="json").json()["id"]
    assert client.delete(f"/api/sessions/{other}/?permanent=1").status_code == 204
    assert client.delete(f"/api/sessions/{session}/?permanent=yes").json()["code"] == "invalid_value"
    client.delete(f"/api/sessions/{session}/")
    assert client.delete(f"/api/trash/{session}/").status_code == 204
    assert not Session.with_trash.exists()
    assert not ChatMessage.objects.exists()


def test_an_emptied_trash_restores_nothing_and_is_deleted_by_the_sweeper(answered: Any) -> None:
    client, session, _ = answered
    kept = client.post("/api/sessions/", {}, format="json").json()["id"]
    client.delete(f"/api/sessions/{session}/")
    assert client.delete("/api/trash/").status_code == 204
    assert trashed(client) == []
    assert client.post(f"/api/trash/{session}/restoration/").status_code == 404
    assert TrashPurger().run(0.0) == 1
    assert [str(pk) for pk in Session.with_trash.values_list("pk", flat=True)] == [kept]


def test_the_sweeper_deletes_what_is_over_and_nothing_that_was_restored(answered: Any) -> None:
    client, session, _ = answered
    client.delete(f"/api/sessions/{session}/")
    assert TrashPurger().run(0.0) == 0
    over = timezone.now() - timedelta(seconds=1)
    Session.with_trash.filter(pk=session).update(purge_at=over)
    pk = Session.with_trash.get().pk
    Session.with_trash.filter(pk=session).update(deleted_at=None, purge_at=None)
    assert not deletion.purge(pk)
    Session.with_trash.filter(pk=session).update(deleted_at=over, purge_at=over)
    assert TrashPurger().run(0.0) == 1
    assert not Session.with_trash.exists()


def test_without_a_trash_a_deleted_chat_is_gone_at_once(answered: Any, settings: Any) -> None:
    client, session, _ = answered
    settings.KEEP_DELETED_DAYS = 0
    client.delete(f"/api/sessions/{session}/")
    assert not Session.with_trash.exists()


def test_deleting_stops_what_is_being_answered_and_what_waits(alice: Any) -> None:
    client = factories.api_client(alice)
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    for text in ("One?", "Two?"):
        factories.send_turn(client, session, text)
    client.delete(f"/api/sessions/{session}/")
    assert set(Run.objects.values_list("status", flat=True)) == {Status.STOPPED}
    assert factories.send_turn(client, session, "Three?").json()["code"] == "session_not_found"


def test_the_sweeper_stops_what_a_process_that_died_left_running_in_the_trash(alice: Any) -> None:
    client = factories.api_client(alice)
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    factories.send_turn(client, session, "One?")
    Session.with_trash.move_to_trash(session, timedelta(days=1))
    assert stop_abandoned_runs() == 1
    assert Run.objects.get().status == Status.STOPPED


def test_an_event_of_a_chat_in_the_trash_is_not_told_to_lists(answered: Any, monkeypatch: Any) -> None:
    client, session, _ = answered
    client.delete(f"/api/sessions/{session}/")
    told: list[Any] = []
    monkeypatch.setattr(session_events, "append_event_now", lambda *given: told.append(given))
    session_events.publish(Session.with_trash.get().record("overall_stop", {}))
    assert told == []


def test_what_is_in_the_trash_takes_up_room_and_was_used(answered: Any) -> None:
    client, session, _ = answered
    usage = client.get("/api/usage/").json()
    client.delete(f"/api/sessions/{session}/")
    assert Session.objects.count() == 0
    assert StoredBytes.objects.measure(Session.with_trash.get().pk) is not None
    limits = {row["code"]: row for row in client.get("/api/usage/limits/").json()}
    assert limits["sessions"]["used"] == 1
    assert client.get("/api/usage/").json() == usage != []


def test_the_trash_of_another_is_not_found(answered: Any) -> None:
    client, session, _ = answered
    client.delete(f"/api/sessions/{session}/")
    mallory = factories.api_client(factories.create_user("mallory"))
    assert trashed(mallory) == []
    assert mallory.post(f"/api/trash/{session}/restoration/").status_code == 404
    assert mallory.delete(f"/api/trash/{session}/").status_code == 404
    mallory.delete("/api/trash/")
    assert trashed(client) == [session]


def test_one_that_is_restored_meanwhile_is_not_deleted(
    answered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, session, _ = answered
    client.delete(f"/api/sessions/{session}/")
    stop_runs = deletion._stop_runs

    def restore_first(session_id: Any) -> None:
        assert client.post(f"/api/trash/{session}/restoration/").status_code == 200
        stop_runs(session_id)

    monkeypatch.setattr(deletion, "_stop_runs", restore_first)
    refused = client.delete(f"/api/trash/{session}/")
    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
    assert client.get(f"/api/sessions/{session}/messages/").status_code == 200


@pytest.mark.parametrize("late", [1, deletion._ATTEMPTS - 1])
def test_rows_that_a_worker_stores_meanwhile_are_deleted_too(
    answered: Any, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    client, session, turn = answered
    run = Run.objects.get(pk=turn["runs"][0]["id"])
    delete = Collector.delete
    waiting = iter(range(late))

    def store_call() -> None:
        ToolCall.objects.create(
            message=run.message, run=run, tool_call_id="c", name="web_search", turn_number=9
        )

    def store_first(collector: Collector) -> Any:
        if next(waiting, None) is not None:
            run_concurrently(store_call)
        return delete(collector)

    monkeypatch.setattr(Collector, "delete", store_first)
    assert client.delete(f"/api/sessions/{session}/?permanent=1").status_code == 204
    assert not Session.with_trash.exists()
    assert not ToolCall.objects.exists()


class TestEmptyOnes:
    def test_an_empty_chat_is_deleted_for_good_and_one_with_messages_stays(self, client: APIClient) -> None:
        empty, used = (str(client.post("/api/sessions/", {}, format="json").json()["id"]) for _ in range(2))
        factories.complete_turn(client, used)
        assert client.delete(f"/api/sessions/{empty}/?if_empty=1").status_code == 204
        assert not Session.with_trash.filter(pk=empty).exists()
        refused = client.delete(f"/api/sessions/{used}/?if_empty=1&permanent=1")
        assert (refused.status_code, refused.json()["code"]) == (409, "session_not_empty")
        assert client.get(f"/api/sessions/{used}/").status_code == 200
        assert client.delete(f"/api/sessions/{empty}/?if_empty=1").status_code == 404
        assert client.delete(f"/api/sessions/{used}/?if_empty=x").status_code == 400

    def test_nobody_deletes_the_empty_chat_of_another(self, client: APIClient, session: str) -> None:
        stranger = factories.api_client(factories.create_user("mallory"))
        assert stranger.delete(f"/api/sessions/{session}/?if_empty=1").status_code == 404
        assert Session.objects.filter(pk=session).exists()


def test_pages_of_chats_that_were_deleted_together_skip_none(client: APIClient) -> None:
    owner = User.objects.get()
    names = [f"chat {number}" for number in range(60)]
    ids = [str(Session.objects.start(owner, title=name).pk) for name in names]
    body = {"ids": ids, "action": "delete"}
    assert client.post("/api/sessions/bulk/", body, format="json").status_code == 204
    first = client.get("/api/trash/").json()
    for row in first["results"][:3]:
        client.post(f"/api/trash/{row['id']}/restoration/")
    rest = client.get(first["next"]).json()["results"]
    assert sorted(row["title"] for row in (*first["results"], *rest)) == sorted(names)


@pytest.mark.django_db(transaction=True)
def test_a_question_that_is_sent_meanwhile_is_never_lost(client: APIClient, session: str) -> None:
    """Either the chat stays with the question, or the question is refused."""
    deleted, sent = run_concurrently(
        lambda: client.delete(f"/api/sessions/{session}/?if_empty=1"),
        lambda: factories.send_turn(factories.api_client(User.objects.get()), session),
    )
    assert (deleted.status_code, sent.status_code) in {(204, 404), (409, 202)}
    assert Session.objects.filter(pk=session).exists() == (sent.status_code == 202)
