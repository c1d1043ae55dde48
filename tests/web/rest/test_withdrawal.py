"""Withdrawing a question that waits for a running answer."""

import pytest
from rest_framework.test import APIClient

from chat.models import ChatMessage, Run, Session, SessionEvent
from chat.protocol.states import Status
from chat.turns.edits import withdraw_question
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_branch_ends_in_the_answer_above_and_the_next_question_goes_there(
    client: APIClient, session: str
) -> None:
    first = factories.send_turn(client, session, "one").json()
    second = factories.send_turn(client, session, "two").json()
    response = client.post(f"/api/messages/{second['user_message']}/withdrawal/")
    assert (response.status_code, response.json()["leaf"]) == (200, first["runs"][0]["message"])
    assert Run.objects.get(pk=second["runs"][0]["id"]).status == Status.STOPPED
    assert factories.message_texts(client, session) == ["one", ""]
    assert SessionEvent.objects.filter(session=session, kind="session").exists()
    factories.send_turn(client, session, "three")
    assert factories.message_texts(client, session) == ["one", "", "three", ""]
    assert Session.objects.get(pk=session).leaf_id == factories.current_tip(session).pk


def test_a_question_can_be_withdrawn_while_it_waits_alone(client: APIClient, session: str) -> None:
    first, second, third = (
        factories.send_turn(client, session, text).json() for text in ("one", "two", "three")
    )
    for message in (first["user_message"], first["runs"][0]["message"], second["runs"][0]["message"]):
        response = client.post(f"/api/messages/{message}/withdrawal/")
        assert (response.status_code, response.json()["code"]) == (409, "not_waiting")
    for started in (third, second):
        assert client.post(f"/api/messages/{started['user_message']}/withdrawal/").status_code == 200
    factories.finish_run(first["runs"][0]["id"], "An answer")
    assert factories.message_texts(client, session) == ["one", "An answer"]
    assert client.post(f"/api/messages/{second['user_message']}/withdrawal/").status_code == 409


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_session_that_is_deleted_meanwhile_is_not_found(
    client: APIClient, session: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    factories.send_turn(client, session, "one")
    question = factories.send_turn(client, session, "two").json()["user_message"]

    def delete_around(message: ChatMessage) -> Session:
        if moment == "before":
            Session.objects.filter(pk=session).delete()
        left = withdraw_question(message)
        Session.objects.filter(pk=session).delete()
        return left

    monkeypatch.setattr("web.rest.messages.withdraw_question", delete_around)
    response = client.post(f"/api/messages/{question}/withdrawal/")
    assert (response.status_code, response.json()["code"]) == (404, "session_not_found")
