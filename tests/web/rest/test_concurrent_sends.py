"""The ordinary send takes no lock: it stores nothing if the session has changed since its snapshot, and starts again."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chat.models import ModelConfig, Session, TipSnapshot, Turn
from chat.prompts import dynamic_context
from chat.turns.request import TurnBody
from chat.turns.start import start_turn
from tests import factories

Meanwhile = Callable[[Callable[[], Any]], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Runs a function once, between the snapshot and the storing of the next send: in a context provider."""
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})

    def run_once(event: Callable[[], Any]) -> None:
        waiting = [event]

        def provider(_: Session) -> str:
            if waiting:
                waiting.pop()()
            return ""

        dynamic_context.register("meanwhile", provider)

    return run_once


def statements_of(act: Callable[[], Any]) -> list[str]:
    """The first word of each statement that is sent to the database."""
    with CaptureQueriesContext(connection) as queries:
        act()
    return [query["sql"].split()[0] for query in queries.captured_queries]


def test_an_ordinary_send_is_one_select_and_one_insert(alice: Any, session: str) -> None:
    known = Session.objects.get(pk=session)
    assert statements_of(lambda: start_turn(known, TurnBody("Hello"))) == ["SELECT", "WITH"]


def test_a_repeat_returns_the_first_answer(client: APIClient, session: str) -> None:
    first = factories.send_turn(client, session, client_message_id="one")
    again = factories.send_turn(client, session, client_message_id="one")
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json() == again.json()
    assert Turn.objects.count() == 1


def test_a_message_sent_in_between_becomes_its_parent(
    client: APIClient, session: str, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda: factories.complete_turn(client, session, "first"))
    assert factories.send_turn(client, session, "second").status_code == 202
    assert factories.message_texts(client, session) == ["first", "About first", "second", ""]


def test_it_waits_for_a_message_sent_in_between(
    client: APIClient, session: str, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda: factories.send_turn(client, session, "first"))
    factories.send_turn(client, session, "second")
    first, second = Turn.objects.order_by("created_at")
    assert second.after == first


def test_a_branch_selected_in_between_is_continued(
    client: APIClient, session: str, meanwhile: Meanwhile
) -> None:
    factories.complete_turn(client, session, "one")
    other = factories.complete_turn(client, session, "two", parent=None)
    first = client.get(f"/api/sessions/{session}/messages/").json()[0]["siblings"][0]
    assert first != other["user_message"]
    meanwhile(lambda: client.post(f"/api/messages/{first}/selection/"))
    factories.send_turn(client, session, "three")
    assert factories.message_texts(client, session) == ["one", "About one", "three", ""]


def test_an_agent_changed_before_the_snapshot_answers(client: APIClient, session: str) -> None:
    stale = Session.objects.get(pk=session)
    body = {"name": "Tides", "prompt": "", "models": ["deep"]}
    agent = client.post("/api/agents/", body, format="json").json()["id"]
    client.patch(f"/api/sessions/{session}/", {"agent": agent}, format="json")
    assert [run.model for run in start_turn(stale, TurnBody("Hello")).runs] == ["deep"]


def test_a_session_deleted_in_between_is_not_found(
    client: APIClient, session: str, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda: client.delete(f"/api/sessions/{session}/"))
    answer = factories.send_turn(client, session)
    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


def test_a_repeat_in_a_session_deleted_in_between_is_not_found(
    client: APIClient, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.complete_turn(client, session, client_message_id="one")
    read = TipSnapshot.read

    def read_and_delete(*arguments: Any) -> TipSnapshot | None:
        snapshot = read(*arguments)
        client.delete(f"/api/sessions/{session}/?permanent=1")
        return snapshot

    monkeypatch.setattr(TipSnapshot, "read", read_and_delete)
    answer = factories.send_turn(client, session, client_message_id="one")
    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


@pytest.mark.parametrize("named", [["quick", "gone"], ["gone"]], ids=["one of two", "the only one"])
def test_a_model_that_is_not_enabled_is_refused(client: APIClient, session: str, named: list[str]) -> None:
    ModelConfig.objects.create(**ModelConfig.fields_for("gone", 8_000), enabled=False)
    answer = factories.send_turn(client, session, models=named)
    assert (answer.status_code, answer.json()["code"]) == (400, "models_invalid")
    assert not Turn.objects.exists()


def test_models_answer_in_the_order_they_were_named(client: APIClient, session: str) -> None:
    started = factories.send_turn(client, session, models=["deep", "quick"]).json()
    assert [run["model"] for run in started["runs"]] == ["deep", "quick"]
