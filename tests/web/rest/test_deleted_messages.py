"""Messages that are deleted with all below them: hidden everywhere, put back as they were, and deleted for good."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from rest_framework.test import APIClient

from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Compression, Run, Session, SessionEvent, Turn
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.sweeper.purging import TrashPurger
from chat.turns.current_branch import select_branch
from chat.turns.deletion import MOVED, delete_message
from chat.turns.edits import edit_answer
from chat.turns.regeneration import continue_answer
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
Talk = tuple[APIClient, str, list[dict[str, Any]]]


@pytest.fixture
def talk(client: APIClient, session: str) -> Talk:
    """A client, its chat with three turns, and the turns."""
    return (
        client,
        session,
        [factories.complete_turn(client, session, text) for text in ("One", "Two", "Three")],
    )


def answer_of(turn: dict[str, Any], column: int = 0) -> str:
    return str(turn["runs"][column]["message"])


def delete(client: APIClient, message: str, query: str = "") -> str:
    response = client.delete(f"/api/messages/{message}/{query}")
    assert response.status_code == 200, response.content
    return response.json()["part"]


def restore(client: APIClient, part: str) -> dict[str, Any]:
    response = client.post(f"/api/trash/{part}/restoration/")
    assert response.status_code == 200, response.content
    return response.json()


def read(client: APIClient, session: str, path: str = "messages") -> Any:
    return client.get(f"/api/sessions/{session}/{path}/").json()


def answer_again(client: APIClient, question: str, text: str, **body: Any) -> dict[str, Any]:
    started = client.post(f"/api/messages/{question}/regenerations/", body, format="json").json()
    for run in started["runs"]:
        factories.finish_run(run["id"], text)
    return started


def edit(client: APIClient, answer: str, text: str) -> str:
    return client.post(f"/api/messages/{answer}/edits/", {"text": text}, format="json").json()["id"]


def test_a_question_takes_all_below_it_and_the_chat_goes_on_above(talk: Talk) -> None:
    client, session, turns = talk
    part = delete(client, turns[1]["user_message"])
    assert factories.message_texts(client, session) == ["One", "About One"]
    assert str(Session.objects.get(pk=session).leaf_id) == answer_of(turns[0])
    assert len(read(client, session, "tree")) == 3
    assert client.get(f"/api/sessions/{session}/search/", {"search": "Three"}).json() == []
    for path in (f"messages/{turns[2]['user_message']}/selection/", f"messages/{answer_of(turns[1])}/edits/"):
        assert client.post(f"/api/{path}", {"text": "x"}, format="json").status_code == 404
    assert client.get(f"/api/runs/{turns[2]['runs'][0]['id']}/").status_code == 404
    assert b"Three" not in b"".join(client.get(f"/api/sessions/{session}/export/"))
    [row] = client.get("/api/trash/").json()["results"]
    assert (row["id"], row["title"], row["is_part"]) == (part, "Two", True)
    factories.complete_turn(client, session, "Other")
    assert factories.message_texts(client, session) == ["One", "About One", "Other", "About Other"]


def test_what_is_put_back_is_as_it_was_and_the_part_is_gone(talk: Talk) -> None:
    client, session, turns = talk
    before = read(client, session), read(client, session, "tree")
    for message in (turns[0]["user_message"], answer_of(turns[1]), turns[2]["user_message"]):
        part = delete(client, message)
        assert restore(client, part)["id"] == session
        assert (read(client, session), read(client, session, "tree")) == before
        assert client.get("/api/trash/").json()["results"] == []
        assert not Session.with_trash.filter(pk=part).exists()


def test_of_several_each_is_put_back_to_its_place(talk: Talk) -> None:
    client, session, turns = talk
    before = read(client, session)
    parts = [delete(client, message) for message in (turns[2]["user_message"], turns[1]["user_message"])]
    other = client.post("/api/sessions/", {}, format="json").json()["id"]
    assert client.delete(f"/api/sessions/{other}/").status_code == 204
    body = {"ids": [*parts, other], "action": "restore"}
    assert client.post("/api/sessions/bulk/", body, format="json").status_code == 204
    assert read(client, session) == before
    assert client.get("/api/trash/").json()["results"] == []
    assert {row["id"] for row in client.get("/api/sessions/").json()["results"]} == {session, other}


def test_the_first_question_leaves_a_chat_that_can_be_begun_again(talk: Talk) -> None:
    client, session, turns = talk
    part = delete(client, turns[0]["user_message"])
    assert read(client, session) == []
    factories.complete_turn(client, session, "Anew")
    restore(client, part)
    assert factories.message_texts(client, session)[::2] == ["One", "Two", "Three"]
    assert len(read(client, session)[0]["siblings"]) == 2


def test_the_only_answer_takes_its_question_along(talk: Talk) -> None:
    client, session, turns = talk
    delete(client, answer_of(turns[1]))
    assert factories.message_texts(client, session) == ["One", "About One"]


def test_one_of_several_answers_leaves_the_question_and_the_nearest_earlier_one(talk: Talk) -> None:
    client, session, turns = talk
    second = answer_again(client, turns[2]["user_message"], "Second")
    third = answer_again(client, turns[2]["user_message"], "Third")
    before = read(client, session)
    part = delete(client, answer_of(third))
    assert factories.message_texts(client, session)[-2:] == ["Three", "Second"]
    assert read(client, session)[-1]["siblings"] == [answer_of(turns[2]), answer_of(second)]
    restore(client, part)
    assert read(client, session) == before
    client.post(f"/api/messages/{answer_of(second)}/selection/")
    delete(client, answer_of(turns[2]))  # beside the current branch, which stays
    assert factories.message_texts(client, session)[-1] == "Second"


def test_an_answer_of_several_models_leaves_its_column_and_comes_back_to_it(
    client: APIClient, session: str
) -> None:
    factories.create_model("other")
    turn = factories.complete_turn(client, session, "Compare", models=["quick", "other"])
    before = read(client, session)
    part = delete(client, answer_of(turn))
    [_, answer] = read(client, session)
    assert (answer["id"], answer["column"], "alongside" in answer) == (answer_of(turn, 1), 1, False)
    restore(client, part)
    assert read(client, session) == before
    again = answer_again(client, turn["user_message"], "Again", replace={"run": turn["runs"][0]["id"]})
    assert len(again["runs"]) == 1
    [_, answer] = read(client, session)
    assert answer["attempts"] == [answer_of(turn), answer_of(again)]
    assert [beside["id"] for beside in answer["alongside"]] == [answer_of(turn, 1)]


@pytest.mark.parametrize("has_ended", [False, True])
def test_what_is_being_answered_stays_until_it_has_ended(
    client: APIClient, session: str, has_ended: bool
) -> None:
    first = factories.complete_turn(client, session, "One")
    running = factories.send_turn(client, session, "Two").json()
    waiting = factories.send_turn(client, session, "Three").json()
    if has_ended:
        for turn in (running, waiting):
            factories.finish_run(turn["runs"][0]["id"], "Stopped", Status.STOPPED)
    messages = (waiting["user_message"], answer_of(running), first["user_message"])
    expected = (200, None) if has_ended else (409, "turn_in_progress")
    for message in messages:
        response = client.delete(f"/api/messages/{message}/")
        assert (response.status_code, response.json().get("code")) == expected
    assert len(read(client, session)) == (0 if has_ended else 6)


def test_an_edited_answer_and_its_original_can_be_deleted_alone(talk: Talk) -> None:
    client, session, turns = talk
    edited = edit(client, answer_of(turns[2]), "Mine")
    part = delete(client, edited)
    assert factories.message_texts(client, session)[-1] == "About Three"
    restore(client, part)
    assert factories.message_texts(client, session)[-1] == "Mine"
    delete(client, answer_of(turns[2]))
    [*_, answer] = read(client, session)
    assert (answer["id"], answer["edited_from"], answer["siblings"]) == (edited, None, [edited])


def test_links_to_deleted_messages_are_closed_until_these_are_back(talk: Talk) -> None:
    client, session, turns = talk
    links = [
        client.post(f"/api/sessions/{session}/shares/", {"leaf": leaf}, format="json")
        .json()["url"]
        .split("/")[2]
        for leaf in (answer_of(turns[0]), answer_of(turns[2]))
    ]
    part = delete(client, turns[1]["user_message"])
    assert [client.get(f"/api/shared/{link}/").status_code for link in links] == [200, 404]
    assert len(read(client, session, "shares")) == 1
    restore(client, part)
    assert [client.get(f"/api/shared/{link}/").status_code for link in links] == [200, 200]


def test_summaries_go_and_come_with_the_messages_that_they_cover(talk: Talk) -> None:
    client, session, turns = talk
    branch = ChatMessage.objects.filter(session=session)
    parent, cutoff = branch.get(pk=turns[2]["user_message"]), branch.get(pk=answer_of(turns[1]))
    factories.create_summary(parent, cutoff, "Before", 5)
    leaf = branch.get(pk=answer_of(turns[2]))
    restore(client, delete(client, turns[1]["user_message"]))
    assert find_summary_for_branch(leaf)
    # Divided from what it covers, it is deleted: the older messages are sent again.
    restore(client, delete(client, turns[2]["user_message"]))
    assert find_summary_for_branch(leaf) is None


def test_a_summary_that_is_being_written_for_deleted_messages_is_given_up(talk: Talk) -> None:
    client, session, turns = talk
    message = ChatMessage.objects.get(pk=turns[2]["user_message"])
    compression = Compression.objects.create(
        session_id=session, parent=message, leaf_id=answer_of(turns[2]), model="quick", triggered_by="auto"
    )
    delete(client, turns[1]["user_message"])
    compression.refresh_from_db()
    assert compression.status == "nothing"
    assert SessionEvent.objects.filter(session=session, kind="compression").exists()


def test_other_tabs_are_told(talk: Talk) -> None:
    client, session, turns = talk
    changes = SessionEvent.objects.filter(session=session, kind="session")
    before = changes.count()
    part = delete(client, turns[2]["user_message"])
    assert changes.count() == before + 1
    assert changes.latest("n").payload["leaf"] == answer_of(turns[1])
    restore(client, part)
    assert changes.count() == before + 2


def test_lists_of_the_trash_are_told(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    client, _, turns = talk
    published: list[Session] = []
    monkeypatch.setattr("chat.events.session_list.publish_deleted", published.append)
    part = delete(client, turns[2]["user_message"])
    assert [str(session.pk) for session in published] == [part]
    restore(client, part)
    assert [str(session.pk) for session in published] == [part, part]


@pytest.mark.parametrize(
    "act", [select_branch, delete_message, partial(edit_answer, text="Mine"), continue_answer]
)
def test_what_is_done_to_a_message_that_is_deleted_meanwhile_is_refused(
    talk: Talk, act: Callable[[Any], object]
) -> None:
    client, session, turns = talk
    answer = ChatMessage.objects.select_related("session", "run").get(pk=answer_of(turns[2]))
    run = Run.objects.for_work().get(message=answer)
    delete(client, answer_of(turns[2]))
    with pytest.raises(ApiError) as refused:
        act(run if act is continue_answer else answer)
    assert refused.value.code == "message_not_found"
    assert str(Session.objects.get(pk=session).leaf_id) == answer_of(turns[1])


def test_messages_whose_place_is_gone_become_a_chat_of_their_own(talk: Talk) -> None:
    client, session, turns = talk
    answer_again(client, turns[2]["user_message"], "Second")
    inner = delete(client, answer_of(turns[2]))
    outer = delete(client, turns[1]["user_message"])
    own = restore(client, inner)
    assert own["id"] == inner
    assert factories.message_texts(client, inner) == ["Three", "About Three"]
    factories.complete_turn(client, inner, "On")
    assert restore(client, outer)["id"] == session
    client.delete(f"/api/sessions/{inner}/")
    assert restore(client, inner)["id"] == inner  # it is no part any more


@pytest.mark.parametrize("reason", ["asked", "no trash", "temporary"])
def test_without_the_trash_they_are_deleted_for_good(talk: Talk, settings: Any, reason: str) -> None:
    client, session, turns = talk
    query = "?permanent=1" if reason == "asked" else ""
    if reason == "no trash":
        settings.KEEP_DELETED_DAYS = 0
    if reason == "temporary":
        session = client.post("/api/sessions/", {"is_temporary": True}, format="json").json()["id"]
        turns = [factories.complete_turn(client, session, text) for text in ("One", "Two")]
    assert delete(client, turns[1]["user_message"], query) is None
    assert client.get("/api/trash/").json()["results"] == []
    TrashPurger().work()
    assert not ChatMessage.objects.filter(pk=turns[1]["user_message"]).exists()
    assert not Run.objects.filter(pk=turns[1]["runs"][0]["id"]).exists()
    assert factories.message_texts(client, session) == ["One", "About One"]


def test_only_own_questions_and_answers_are_deleted(talk: Talk) -> None:
    client, session, turns = talk
    root = read(client, session, "tree")[0]["id"]
    response = client.delete(f"/api/messages/{root}/")
    assert (response.status_code, response.json()["code"]) == (409, "role_order")
    stranger = factories.api_client(factories.create_user("stranger"))
    assert stranger.delete(f"/api/messages/{turns[0]['user_message']}/").status_code == 404


def test_a_message_that_was_sent_again_after_its_deletion_stands_beside_it(
    client: APIClient, session: str
) -> None:
    first = factories.complete_turn(client, session, "One", client_message_id="1")
    part = delete(client, first["user_message"])
    second = factories.complete_turn(client, session, "One", client_message_id="1")
    restore(client, part)
    assert read(client, session)[0]["siblings"] == [first["user_message"], second["user_message"]]


def test_every_row_that_names_a_session_moves_or_stays_knowingly() -> None:
    # The name of a run is taken, also while its answer is in the trash. Metadata are of a whole conversation.
    stays = {"SessionEvent", "AgUiRun", "ConversationMetadata"}
    named = {
        model.__name__
        for model in apps.get_app_config("chat").get_models()
        if any(field.related_model is Session for field in model._meta.concrete_fields)
    }
    assert {model.__name__ for model, _ in MOVED} == named - stays


def test_the_rows_of_a_part_are_all_of_one_session(talk: Talk) -> None:
    client, session, turns = talk
    answer_again(client, turns[2]["user_message"], "Second")
    part = delete(client, answer_of(turns[2]))
    for of in (session, part):
        assert {str(turn.session_id) for turn in Turn.objects.filter(user_message__session=of)} == {of}
        assert {str(run.turn.session_id) for run in Run.objects.filter(message__session=of)} == {of}
