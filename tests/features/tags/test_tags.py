"""A user's own tags on chats: set with the chat, listed, filtered by, renamed and deleted everywhere."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.events import session_list
from chat.infrastructure.redis_client import sync_redis
from chat.models import Session
from chat.sessions import settings
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def begin(client: APIClient, *names: str, **fields: Any) -> str:
    answer = client.post("/api/sessions/", {"tags": [*names], **fields}, format="json")
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["id"])


def put(client: APIClient, session: str, names: Any) -> Any:
    return client.patch(f"/api/sessions/{session}/", {"tags": names}, format="json")


def tags_of(client: APIClient, session: str) -> list[str]:
    found: list[str] = client.get(f"/api/sessions/{session}/").json()["tags"]
    return found


def all_tags(client: APIClient) -> dict[str, int]:
    return {tag["name"]: tag["sessions"] for tag in client.get("/api/tags/").json()}


def listed(client: APIClient, **query: Any) -> list[str]:
    return [row["id"] for row in client.get("/api/sessions/", query).json()["results"]]


def test_tags_are_set_with_a_chat_and_counted_once_whatever_their_capitals(client: APIClient) -> None:
    session = begin(client, "Work", " to  do ", "work")
    assert tags_of(client, session) == ["Work", "to do"]
    other = begin(client)
    assert put(client, other, ["WORK", "Home"]).json()["tags"] == ["Work", "Home"]
    assert all_tags(client) == {"Home": 1, "to do": 1, "Work": 2}
    assert put(client, other, []).json()["tags"] == []
    assert all_tags(client) == {"to do": 1, "Work": 1}


def test_a_chat_may_respell_the_tag_that_it_alone_has(client: APIClient) -> None:
    session = begin(client, "work")
    assert put(client, session, ["Work"]).json()["tags"] == ["Work"]


def test_lists_and_searches_are_filtered_by_a_tag(client: APIClient) -> None:
    tagged = begin(client, "Sea Life", title="Tides")
    begin(client, "Sea", title="Tides too")
    archived = begin(client, "sea life", title="Old tides")
    client.patch(f"/api/sessions/{archived}/", {"is_archived": True}, format="json")
    assert listed(client, tag="SEA LIFE") == [tagged]
    assert listed(client, tag="sea life", archived=1) == [archived]
    assert set(listed(client, tag="sea life", search="tides")) == {tagged, archived}
    for none in ("", "sea", "%", "' OR 1=1 --"):
        expected = 1 if none == "sea" else 0
        assert len(listed(client, tag=none)) == expected, none
    assert client.get("/api/sessions/?tag=%00").status_code in (200, 400)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("work", "invalid_type"),
        ([1], "invalid_type"),
        ([None], "invalid_type"),
        ([""], "invalid_value"),
        (["  \t"], "invalid_value"),
        (["\u200b"], "invalid_value"),
        (["x" * 41], "invalid_value"),
        (["a\u0000b"], "invalid_characters"),
        ([f"tag {n}" for n in range(21)], "invalid_value"),
    ],
)
def test_what_is_no_list_of_tags_is_refused(client: APIClient, wrong: Any, code: str) -> None:
    session = begin(client, "kept")
    refused = put(client, session, wrong)
    assert refused.status_code == 400
    assert refused.json()["code"] == code
    assert tags_of(client, session) == ["kept"]


def test_a_user_has_so_many_different_tags(client: APIClient, monkeypatch: Any) -> None:
    monkeypatch.setattr(settings, "MAX_NAMES", 3)
    session = begin(client, "one", "two", "three")
    refused = client.post("/api/sessions/", {"tags": ["four"]}, format="json")
    assert (refused.status_code, refused.json()["code"], refused.json()["max"]) == (409, "too_many_tags", 3)
    assert Session.objects.count() == 1
    other = begin(client, "ONE")
    assert put(client, other, ["one", "four"]).json()["code"] == "too_many_tags"
    assert put(client, session, ["one", "four"]).status_code == 200  # what it gives up makes room
    assert put(client, other, ["one", "two"]).status_code == 200


def test_a_renamed_tag_is_renamed_in_all_chats_of_its_user_alone(client: APIClient) -> None:
    bob = factories.api_client(factories.create_user("bob"))
    of_bob = begin(bob, "work")
    both, trashed = begin(client, "job", "Work", "x"), begin(client, "work")
    client.delete(f"/api/sessions/{trashed}/")
    renamed = client.patch("/api/tags/", {"tag": "wORK", "name": "  JOB "}, format="json")
    assert (renamed.status_code, renamed.json()) == (200, {"name": "job", "sessions": 1})
    assert tags_of(client, both) == ["job", "x"]
    client.post(f"/api/trash/{trashed}/restoration/")
    assert tags_of(client, trashed) == ["job"]
    assert tags_of(bob, of_bob) == ["work"]
    client.patch("/api/tags/", {"tag": "job", "name": "Job"}, format="json")
    assert all_tags(client) == {"Job": 2, "x": 1}


def test_a_deleted_tag_leaves_the_chats(client: APIClient) -> None:
    session = begin(client, "a/b ?&", "other")
    assert client.delete("/api/tags/", QUERY_STRING="tag=A%2Fb%20%3F%26").status_code == 204
    assert tags_of(client, session) == ["other"]
    for query, code in (("tag=gone", "tag_not_found"), ("", "field_required")):
        assert client.delete("/api/tags/", QUERY_STRING=query).json()["code"] == code


def test_another_users_tags_are_not_found(client: APIClient) -> None:
    session = begin(client, "secret")
    mallory = factories.api_client(factories.create_user("mallory"))
    assert mallory.get("/api/tags/").json() == []
    assert listed(mallory, tag="secret") == []
    for refused in (
        mallory.patch("/api/tags/", {"tag": "secret", "name": "mine"}, format="json"),
        mallory.delete("/api/tags/?tag=secret"),
        put(mallory, session, ["mine"]),
    ):
        assert refused.status_code == 404
    assert tags_of(client, session) == ["secret"]


def test_every_tab_is_told_of_changed_tags(alice: Any, client: APIClient) -> None:
    session = begin(client)
    with sync_redis().pubsub() as pubsub:
        pubsub.subscribe(session_list.channel_name(alice.pk))
        assert pubsub.get_message(timeout=10)["type"] == "subscribe"
        put(client, session, ["Work"])
        changed = json.loads(pubsub.get_message(timeout=10)["data"])
        assert (changed["type"], changed["tags"]) == ("session_changed", ["Work"])
        client.patch("/api/tags/", {"tag": "work", "name": "Job"}, format="json")
        told = json.loads(pubsub.get_message(timeout=10)["data"])
        assert told == {"type": "tag_changed", "tag": "work", "name": "Job"}
        client.delete("/api/tags/?tag=job")
        assert json.loads(pubsub.get_message(timeout=10)["data"])["name"] is None


def test_a_temporary_chat_has_no_tags(client: APIClient) -> None:
    refused = client.post("/api/sessions/", {"tags": ["a"], "is_temporary": True}, format="json")
    assert (refused.json()["code"], refused.json()["field"]) == ("temporary_session", "tags")


def test_exports_contain_tags_and_imports_give_them_as_far_as_there_is_room(
    client: APIClient, monkeypatch: Any
) -> None:
    session = begin(client, "Work", "Größe")
    file = json.loads(b"".join(client.get(f"/api/sessions/{session}/export/").streaming_content))
    assert (file["version"], file["tags"]) == (4, ["Work", "Größe"])
    untagged = json.loads(b"".join(client.get(f"/api/sessions/{begin(client)}/export/").streaming_content))
    assert (untagged["version"], "tags" in untagged) == (2, False)
    put(client, session, ["WORK"])
    imported = client.post("/api/sessions/import/", file, format="json").json()
    assert imported["tags"] == ["WORK", "Größe"]
    monkeypatch.setattr(settings, "MAX_NAMES", 2)
    full = client.post("/api/sessions/import/", {**file, "tags": ["new", "work"]}, format="json").json()
    assert full["tags"] == ["WORK"]
    for wrong in (["x"] * 21, ["x" * 41], [""], "x", [1]):
        refused = client.post("/api/sessions/import/", {**file, "tags": wrong}, format="json")
        assert refused.status_code == 400, wrong


def test_a_fork_has_the_tags_of_its_session(client: APIClient) -> None:
    session = begin(client, "Work")
    answer = factories.complete_turn(client, session)["runs"][0]["message"]
    fork = client.post(f"/api/sessions/{session}/fork/", {"message": answer}, format="json").json()
    assert fork["tags"] == ["Work"]


def test_a_letter_that_only_python_makes_small_is_renamed(client: APIClient) -> None:
    for tag in ("x", "istanbul"):
        client.post("/api/sessions/", {"tags": [tag]}, format="json")
    assert all_tags(client) == {"istanbul": 1, "x": 1}
    renamed = client.patch("/api/tags/", {"tag": "x", "name": "\u0130stanbul"}, format="json")
    assert renamed.status_code == 200
    assert "x" not in all_tags(client)
