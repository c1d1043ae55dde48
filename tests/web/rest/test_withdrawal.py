"""Withdrawing a question that waits for a running answer."""

import pytest
from rest_framework.test import APIClient

from chat.models import Run, Session, SessionEvent
from chat.protocol.states import Status
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


def test_only_the_newest_question_can_be_withdrawn_while_it_waits(client: APIClient, session: str) -> None:
    first, second, third = (
        factories.send_turn(client, session, text).json() for text in ("one", "two", "three")
    )
    for message in (first["user_message"], second["user_message"], first["runs"][0]["message"]):
        response = client.post(f"/api/messages/{message}/withdrawal/")
        assert (response.status_code, response.json()["code"]) == (409, "not_waiting")
    for started in (third, second):
        assert client.post(f"/api/messages/{started['user_message']}/withdrawal/").status_code == 200
    factories.finish_run(first["runs"][0]["id"], "An answer")
    assert factories.message_texts(client, session) == ["one", "An answer"]
    assert client.post(f"/api/messages/{second['user_message']}/withdrawal/").status_code == 409
