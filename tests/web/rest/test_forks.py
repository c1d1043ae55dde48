"""Chats that are forked from an answer: the branch up to it as a chat of its own."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.compressions.summaries import find_summary_for_branch
from chat.models import (
    ChatMessage,
    CitedDocument,
    Compression,
    MessageFile,
    Run,
    Session,
    StoredBytes,
    ToolCall,
    Turn,
)
from chat.models.tool_call import ToolCallStatus
from chat.sessions.forking import next_title
from knowledge.models import File
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
# What is of the original alone.
IDS = ("id", "parent", "run", "siblings", "attempts")


@pytest.fixture
def talk(alice: Any) -> tuple[APIClient, str, list[dict[str, Any]]]:
    """A client, its chat with three turns, and the turns."""
    client = factories.api_client(alice)
    session = client.post("/api/sessions/", {"title": "Tides"}, format="json").json()["id"]
    return (
        client,
        session,
        [factories.complete_turn(client, session, text) for text in ("One", "Two", "Three")],
    )


def answer_of(turn: dict[str, Any]) -> str:
    return str(turn["runs"][0]["message"])


def fork(client: APIClient, session: str, answer: str, **body: Any) -> Any:
    return client.post(f"/api/sessions/{session}/fork/", {"message": answer, **body}, format="json")


def shown(client: APIClient, session: str, **query: Any) -> list[dict[str, Any]]:
    """The messages without their ids."""
    read = client.get(f"/api/sessions/{session}/messages/", query).json()
    return [without_ids(message) for message in read]


def without_ids(message: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in message.items() if name not in IDS}
    lists = ("tool_calls", "children")
    return kept | {name: [without_ids(call) for call in kept[name]] for name in lists if name in kept}


def test_a_fork_has_the_branch_up_to_the_answer_and_goes_on_by_itself(talk: Any) -> None:
    client, session, turns = talk
    response = fork(client, session, answer_of(turns[1]))
    assert response.status_code == 201
    forked = response.json()
    assert (forked["title"], forked["is_answering"]) == ("Tides (2)", False)
    assert shown(client, forked["id"]) == shown(client, session)[:4]
    assert factories.message_texts(client, forked["id"])[-1] == "About Two"
    factories.complete_turn(client, forked["id"], "Other")
    assert factories.message_texts(client, forked["id"])[-2:] == ["Other", "About Other"]
    assert factories.message_texts(client, session)[-2:] == ["Three", "About Three"]


def test_the_branch_of_the_answer_is_copied_even_if_another_one_is_shown(talk: Any) -> None:
    client, session, turns = talk
    factories.complete_turn(client, session, "Else", parent=answer_of(turns[0]))
    forked = fork(client, session, answer_of(turns[2])).json()["id"]
    assert factories.message_texts(client, forked)[::2] == ["One", "Two", "Three"]
    assert factories.current_tip(forked).pk == Session.objects.get(pk=forked).leaf_id


def test_an_answer_beside_the_branch_is_forked_from_alone(alice: Any) -> None:
    client = factories.api_client(alice)
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    turn = factories.complete_turn(client, session, "One", models=["quick", "deep"])
    beside = client.get(f"/api/sessions/{session}/messages/").json()[-1]["alongside"][0]
    forked = fork(client, session, beside["id"]).json()["id"]
    (_, answer) = client.get(f"/api/sessions/{forked}/messages/").json()
    assert (answer["model"], answer["column"], answer.get("alongside")) == (beside["model"], 0, None)
    assert len(turn["runs"]) == 2
    assert Run.objects.filter(turn__session=forked).count() == 1


def test_what_belongs_to_messages_is_copied_and_files_are_the_same_ones(talk: Any, alice: Any) -> None:
    client, session, _ = talk
    file = File.objects.create(owner=alice, name="a.txt", status="ready", text="Two.", token_count=1)
    turn = factories.complete_turn(
        client, session, "Read", files=[str(file.pk)], additional_context="At the coast."
    )
    run = Run.objects.get(pk=turn["runs"][0]["id"])
    call = ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tool_call_id="1", name="research_agent", arguments={"q": 1},
        response="Found", documents=[{"number": 2, "document_id": "d", "title": "T", "knowledge_base": "b"}],
        status=ToolCallStatus.COMPLETED,
    )  # fmt: skip
    ToolCall.objects.create(
        run=run, parent_tool_call=call, turn_number=0, tool_call_id="2", name="web_search",
        status=ToolCallStatus.COMPLETED,
    )  # fmt: skip
    CitedDocument.objects.create(message=run.message, number=2, document_id="d", title="T")
    client.put(
        f"/api/messages/{run.message_id}/feedback/", {"is_positive": True, "text": "Good"}, format="json"
    )
    forked = fork(client, session, str(run.message_id)).json()["id"]
    assert shown(client, forked) == shown(client, session)
    assert MessageFile.objects.filter(message__session=forked).get().file_id == file.pk
    copied = ToolCall.objects.get(message__session=forked)
    assert (copied.documents, copied.children.get().name) == (call.documents, "web_search")
    client.delete(f"/api/sessions/{session}/?permanent=1")
    assert File.objects.filter(pk=file.pk).exists()
    assert len(shown(client, forked)) == 8


def test_summaries_of_copied_messages_stay_in_force_and_others_are_left(talk: Any) -> None:
    client, session, turns = talk
    rows = {one.text: one for one in ChatMessage.objects.filter(session=session)}
    factories.create_summary(rows["Two"], rows["About One"], "Of one", 3)
    factories.create_summary(rows["Three"], rows["About Two"], "Of two", 3)
    forked = fork(client, session, answer_of(turns[1])).json()["id"]
    summary = find_summary_for_branch(factories.current_tip(forked))
    assert summary is not None
    assert summary.text == "Of one"
    assert ChatMessage.objects.get(pk=summary.cutoff).session_id == Session.objects.get(pk=forked).pk
    assert ChatMessage.objects.filter(session=forked, role="summary").count() == 1
    assert Compression.objects.get(session=forked).history_window == 128_000


def test_settings_are_copied_and_how_the_chat_is_kept_is_not(talk: Any) -> None:
    client, session, turns = talk
    settings = {
        "reminder": "Be brief.",
        "prompt": "Rhyme.",
        "options": {"temperature": 0.5},
        "models": ["quick"],
    }
    client.patch(f"/api/sessions/{session}/", {**settings, "is_pinned": True}, format="json")
    forked = fork(client, session, answer_of(turns[0]), title="Mine").json()
    assert {name: forked[name] for name in settings} == settings
    assert (forked["title"], forked["is_pinned"]) == ("Mine", False)


def test_copied_runs_count_neither_as_usage_nor_as_work(talk: Any) -> None:
    client, session, turns = talk
    before = client.get("/api/usage/").json()
    forked = fork(client, session, answer_of(turns[2])).json()["id"]
    assert client.get("/api/usage/").json() == before
    assert not Run.objects.live().exists()
    assert not Turn.objects.filter(session=forked, ended_at=None).exists()
    assert StoredBytes.objects.get().total == Session.objects.get(pk=forked).stored_bytes > 0


def test_a_branch_with_an_answer_in_progress_is_refused(talk: Any) -> None:
    client, session, turns = talk
    writing = factories.send_turn(client, session, "Four").json()
    refused = fork(client, session, answer_of(writing))
    assert (refused.status_code, refused.json()["code"]) == (409, "answer_in_progress")
    assert fork(client, session, answer_of(turns[2])).status_code == 201
    assert Session.objects.count() == 2


def test_only_answers_of_the_chat_are_forked_from(talk: Any) -> None:
    client, session, turns = talk
    other = client.post("/api/sessions/", {}, format="json").json()["id"]
    codes = [
        fork(client, session, turns[0]["user_message"]).json()["code"],
        fork(client, other, answer_of(turns[0])).json()["code"],
        fork(client, session, "x").json()["code"],
    ]
    assert codes == ["role_order", "message_not_found", "invalid_id"]


def test_a_fork_needs_room_for_one_more_chat(talk: Any, settings: Any) -> None:
    client, session, turns = talk
    settings.MAX_FILES_PER_USER = 1
    for name in ("a", "b"):
        File.objects.create(owner=Session.objects.get().owner, name=name)
    assert fork(client, session, answer_of(turns[0])).status_code == 201
    client.delete(f"/api/sessions/{client.get('/api/sessions/').json()['results'][0]['id']}/?permanent=1")
    settings.MAX_SESSIONS_PER_USER = 1
    assert fork(client, session, answer_of(turns[0])).json()["code"] == "too_many_sessions"
    settings.MAX_SESSIONS_PER_USER = 0
    settings.MAX_STORED_BYTES_PER_USER = 100
    assert fork(client, session, answer_of(turns[0])).json()["code"] == "storage_full"
    assert Session.objects.count() == 1


@pytest.mark.pure
@pytest.mark.parametrize(
    ("title", "expected"),
    [("Tides", "Tides (2)"), ("Tides (2)", "Tides (3)"), ("(9)", "(9) (2)"), ("x" * 200, "x" * 196 + " (2)")],
)
def test_titles_of_forks_are_numbered(title: str, expected: str) -> None:
    assert next_title(title) == expected
