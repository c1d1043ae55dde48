"""Editing an answer: a sibling with the user's text, what is kept of the original, who may, and where it is marked."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import ChatMessage, CitedDocument, EditedAnswer, Session, SessionEvent
from chat.protocol.states import Status
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def edit(client: APIClient, answer: str, text: str) -> Any:
    return client.post(f"/api/messages/{answer}/edits/", {"text": text}, format="json")


def answer_of(started: dict[str, Any]) -> str:
    return started["runs"][0]["message"]


def branch(client: APIClient, session: str, **query: Any) -> list[dict[str, Any]]:
    return client.get(f"/api/sessions/{session}/messages/", query).json()


def test_the_edited_answer_ends_the_branch_beside_the_original_with_all_below_it(
    client: APIClient, session: str
) -> None:
    first = factories.complete_turn(client, session, "one")
    second = factories.complete_turn(client, session, "two")
    events = SessionEvent.objects.filter(session=session, kind="session").count()
    response = edit(client, answer_of(first), "My own words")
    assert response.status_code == 201
    edited = response.json()
    assert (edited["text"], edited["status"], edited["model"]) == ("My own words", "completed", "quick")
    assert edited["edited_from"] == answer_of(first)
    assert edited["siblings"] == [answer_of(first), edited["id"]]
    assert "run" not in edited
    assert "reasoning" not in edited
    assert edited["tool_calls"] == []
    assert edited["token_count"] > 0
    assert [one["text"] for one in branch(client, session)] == ["one", "My own words"]
    assert str(factories.current_tip(session).pk) == edited["id"]
    assert str(Session.objects.get(pk=session).leaf_id) == edited["id"]
    # For the other tabs.
    assert SessionEvent.objects.filter(session=session, kind="session").count() == events + 1
    client.post(f"/api/messages/{answer_of(first)}/selection/")
    assert [one["id"] for one in branch(client, session)][-1] == answer_of(second)
    [node] = [one for one in client.get(f"/api/sessions/{session}/tree/").json() if one["id"] == edited["id"]]
    assert (node["model"], node["edited_from"], node["status"]) == ("quick", answer_of(first), "completed")


def test_citations_that_still_occur_are_kept(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session, "one")
    for number, url in ((1, "https://a.example/"), (2, "https://b.example/"), (3, "")):
        CitedDocument.objects.create(
            message_id=answer_of(started), number=number, document_id=f"d{number}", title="T", url=url
        )
    edited = edit(client, answer_of(started), "So [[1]](https://a.example/) and [3], but [[2]](https://x/).")
    assert [one["number"] for one in edited.json()["citations"]] == [1, 3]


def test_an_edited_answer_is_edited_again_replied_to_and_answered_anew(
    client: APIClient, session: str
) -> None:
    started = factories.complete_turn(client, session, "one")
    once = edit(client, answer_of(started), "Once").json()
    twice = edit(client, once["id"], "Twice").json()
    assert (twice["edited_from"], twice["model"]) == (once["id"], "quick")
    assert len(twice["siblings"]) == 3
    factories.complete_turn(client, session, "next")
    assert [one["text"] for one in branch(client, session)] == ["one", "Twice", "next", "About next"]
    again = client.post(f"/api/messages/{started['user_message']}/regenerations/", {}, format="json")
    assert again.status_code == 202
    named = factories.send_turn(client, session, "below", parent=twice["id"])
    assert named.status_code == 202


def test_the_model_whose_answer_was_edited_answers_anew(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session, "one", models=["quick", "deep"])
    path = f"/api/messages/{started['user_message']}/regenerations/"
    slow = client.post(path, {"models": ["quick"]}, format="json").json()["runs"][0]
    factories.finish_run(slow["id"])
    once = edit(client, slow["message"], "Once").json()
    edit(client, once["id"], "Twice")
    again = client.post(path, {}, format="json")
    assert [run["model"] for run in again.json()["runs"]] == ["quick"]


def test_nothing_but_a_finished_answer_of_ones_own_is_edited(client: APIClient, session: str) -> None:
    started = factories.send_turn(client, session, "one").json()
    assert edit(client, answer_of(started), "Mine").json()["code"] == "answer_in_progress"
    assert edit(client, started["user_message"], "Mine").json()["code"] == "role_order"
    root = client.get(f"/api/sessions/{session}/").json()["root"]
    assert edit(client, root, "Mine").json()["code"] == "role_order"
    factories.finish_run(started["runs"][0]["id"], "Half", Status.STOPPED)
    mallory = factories.api_client(factories.create_user("mallory"))
    assert edit(mallory, answer_of(started), "Mine").status_code == 404
    assert edit(client, answer_of(started), "Whole").status_code == 201


def test_an_answer_that_was_stopped_while_it_waited_is_not_edited(client: APIClient, session: str) -> None:
    """A reply to it would be answered beside the answer above."""
    first, second = (factories.send_turn(client, session, text).json() for text in ("one", "two"))
    client.post(f"/api/turns/{second['turn']}/cancellation/")
    assert edit(client, answer_of(second), "Mine").json()["code"] == "answer_in_progress"
    factories.finish_run(first["runs"][0]["id"])
    assert edit(client, answer_of(second), "Mine").json()["code"] == "role_order"


def test_edited_answers_have_the_limits_of_messages(client: APIClient, session: str, settings: Any) -> None:
    started = factories.complete_turn(client, session, "one")
    settings.MAX_MESSAGE_CHARACTERS = 10
    for text, code in ((" ", "message_empty"), ("x" * 11, "message_too_long")):
        assert edit(client, answer_of(started), text).json()["code"] == code
    settings.MAX_ANSWERS_PER_QUESTION = 2
    assert edit(client, answer_of(started), "second").status_code == 201
    assert edit(client, answer_of(started), "third").json()["code"] == "too_many_answers"
    settings.MAX_ANSWERS_PER_QUESTION = 0
    settings.MAX_STORED_BYTES_PER_USER = 1
    assert edit(client, answer_of(started), "fourth").json()["code"] == "storage_full"
    assert ChatMessage.objects.filter(role="assistant").count() == 2


def test_exports_and_imports_keep_the_mark(client: APIClient, session: str) -> None:
    plain = factories.complete_turn(client, session, "one")
    export = f"/api/sessions/{session}/export/"
    assert json.loads(client.get(export).getvalue())["version"] == 2
    edit(client, answer_of(plain), "My own words")
    exported = json.loads(client.get(export).getvalue())
    assert exported["version"] == 4
    [message] = [one for one in exported["messages"] if "edited" in one]
    assert message["edited"] == {"original": message["id"] - 1, "model": "quick"}
    imported = client.post("/api/sessions/import/", exported, format="json").json()["id"]
    [_, edited] = branch(client, imported)
    assert (edited["text"], edited["model"]) == ("My own words", "quick")
    assert edited["edited_from"] in edited["siblings"]
    again = json.loads(client.get(f"/api/sessions/{imported}/export/").getvalue())
    assert again["messages"] == exported["messages"]
    markdown = client.get(export, {"as": "markdown"}).getvalue().decode()
    assert "quick, edited" in markdown


@pytest.mark.parametrize("original", [0, 1, 3, 9])
def test_a_file_that_names_another_message_as_the_original_is_refused(
    client: APIClient, session: str, original: int
) -> None:
    started = factories.complete_turn(client, session, "one")
    edit(client, answer_of(started), "My own words")
    exported = json.loads(client.get(f"/api/sessions/{session}/export/").getvalue())
    exported["messages"][3]["edited"]["original"] = original
    refused = client.post("/api/sessions/import/", exported, format="json").json()
    assert (refused["code"], refused["field"]) == ("invalid_value", "messages.3.edited.original")


def test_a_fork_keeps_the_mark_without_the_original(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session, "one")
    edited = edit(client, answer_of(started), "My own words").json()
    fork = client.post(f"/api/sessions/{session}/fork/", {"message": edited["id"]}, format="json").json()
    [_, copied] = branch(client, fork["id"])
    assert (copied["text"], copied["model"], copied["edited_from"]) == ("My own words", "quick", None)
    assert EditedAnswer.objects.count() == 2


def test_readers_of_a_share_are_told_that_the_owner_wrote_it(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session, "one")
    edit(client, answer_of(started), "My own words")
    share = client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()
    link = share["url"].split("/")[2]
    [_, shown] = APIClient().get(f"/api/shared/{link}/").json()["messages"]
    assert (shown["text"], shown["model"], shown["is_edited"]) == ("My own words", "quick", True)


def test_staff_see_the_mark_in_the_tree(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session, "one")
    edited = edit(client, answer_of(started), "My own words").json()
    staff = factories.staff_client("view_session", "view_chatmessage", "view_run")
    page = staff.get(f"/admin/chat/session/{session}/change/").content.decode()
    assert "edited by the user" in page
    assert f"?at={answer_of(started)}" in page
    listed = staff.get("/admin/chat/chatmessage/").content.decode()
    assert "edited by the user" in listed
    assert staff.get(f"/admin/chat/chatmessage/{edited['id']}/change/").status_code == 200
