"""Several chats archived, deleted or restored at once: all of them, or none."""

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from chat.models import Run, Session, SessionEvent
from chat.sessions import deletion
from chat.sessions.bulk import MAX_SESSIONS
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chats(alice: Any) -> tuple[APIClient, list[str]]:
    client = factories.api_client(alice)
    return client, [client.post("/api/sessions/", {}, format="json").json()["id"] for _ in range(3)]


def change(client: APIClient, ids: Any, action: str) -> Any:
    return client.post("/api/sessions/bulk/", {"ids": ids, "action": action}, format="json")


def listed(client: APIClient, path: str = "sessions/") -> set[str]:
    return {row["id"] for row in client.get(f"/api/{path}").json()["results"]}


def test_chats_are_archived_and_taken_back_each_with_its_event(chats: Any) -> None:
    client, ids = chats
    assert change(client, ids[:2], "archive").status_code == 204
    assert listed(client) == {ids[2]}
    assert SessionEvent.objects.filter(session__in=ids, kind="session").count() == 2
    assert change(client, ids[:2], "archive").status_code == 204
    assert SessionEvent.objects.filter(session__in=ids, kind="session").count() == 2
    assert change(client, ids[:2], "unarchive").status_code == 204
    assert listed(client) == {*ids}


def test_chats_are_deleted_and_restored_and_what_is_written_in_them_stops(chats: Any) -> None:
    client, ids = chats
    factories.send_turn(client, ids[0])
    assert change(client, [*ids, ids[0]], "delete").status_code == 204
    assert (listed(client), listed(client, "trash/")) == (set(), {*ids})
    assert not Run.objects.live().exists()
    assert change(client, ids, "restore").status_code == 204
    assert (listed(client), listed(client, "trash/")) == ({*ids}, set())


@pytest.mark.parametrize("action", ["archive", "unarchive", "delete", "restore"])
def test_one_that_is_not_there_lets_all_stay(chats: Any, action: str) -> None:
    client, ids = chats
    mallory = factories.api_client(factories.create_user("mallory"))
    theirs = mallory.post("/api/sessions/", {}, format="json").json()["id"]
    client.delete(f"/api/sessions/{ids[2]}/")
    before = list(Session.with_trash.order_by("pk").values())
    for other in (str(uuid4()), theirs):
        given = [ids[2], other] if action == "restore" else [*ids[:2], other]
        refused = change(client, given, action)
        assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
    mixed = change(client, ids, action)
    assert mixed.json()["field"] == "ids"
    assert list(Session.with_trash.order_by("pk").values()) == before


def test_without_a_trash_they_are_deleted_for_good(chats: Any, settings: Any) -> None:
    client, ids = chats
    settings.KEEP_DELETED_DAYS = 0
    assert change(client, ids[:2], "delete").status_code == 204
    assert [str(one.pk) for one in Session.with_trash.all()] == ids[2:]


def test_one_that_is_deleted_meanwhile_keeps_no_other_from_it(
    chats: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, ids = chats
    settings.KEEP_DELETED_DAYS = 0
    delete = deletion.delete_for_good

    def delete_twice(session: Session) -> None:
        delete(Session.objects.get(pk=session.pk))
        delete(session)

    monkeypatch.setattr(deletion, "delete_for_good", delete_twice)
    assert change(client, ids, "delete").status_code == 204
    assert not Session.with_trash.exists()


def test_limits_and_unknown_actions_are_refused(chats: Any) -> None:
    client, ids = chats
    assert change(client, [], "archive").status_code == 204
    assert (
        change(client, [str(uuid4()) for _ in range(MAX_SESSIONS + 1)], "archive").json()["code"]
        == "invalid_value"
    )
    assert change(client, ids, "explode").json()["code"] == "invalid_value"
    assert change(client, "x", "archive").status_code == 400
    assert listed(client) == {*ids}
