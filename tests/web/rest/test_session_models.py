"""Which models answer belongs to the session: what was chosen there last, in whatever tab or client."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import ModelConfig, SessionEvent
from tests import factories


@pytest.fixture(autouse=True)
def models(client: APIClient) -> None:
    factories.create_model("slow")


def read(client: APIClient, session: str) -> dict[str, Any]:
    return dict(client.get(f"/api/sessions/{session}/").json())


def change(client: APIClient, session: str, **fields: Any) -> Any:
    return client.patch(f"/api/sessions/{session}/", fields, format="json")


def asked(started: dict[str, Any]) -> list[str]:
    return [run["model"] for run in started["runs"]]


def test_the_session_tells_the_models_that_a_turn_named_last(client: APIClient, session: str) -> None:
    assert read(client, session)["models"] == []
    assert asked(factories.complete_turn(client, session)) == ["quick"]
    assert read(client, session)["models"] == []
    factories.complete_turn(client, session, models=["slow", "deep"])
    assert read(client, session)["models"] == ["slow", "deep"]
    [listed] = client.get("/api/sessions/").json()["results"]
    assert listed["models"] == ["slow", "deep"]


def test_a_client_that_names_models_once_has_not_chosen_them(client: APIClient, session: str) -> None:
    factories.complete_turn(client, session, models=["slow", "deep"])
    assert asked(factories.complete_turn(client, session)) == ["quick"]


def test_once_chosen_those_used_last_answer(client: APIClient, session: str) -> None:
    change(client, session, models=["deep"])
    factories.complete_turn(client, session, models=["slow"])
    assert asked(factories.complete_turn(client, session)) == ["slow"]


def test_a_session_is_created_with_models(client: APIClient) -> None:
    made = client.post("/api/sessions/", {"models": ["deep"]}, format="json").json()
    assert made["models"] == ["deep"]
    assert asked(factories.complete_turn(client, made["id"])) == ["deep"]


def test_another_session_has_its_own(client: APIClient, session: str) -> None:
    change(client, session, models=["deep"])
    other = client.post("/api/sessions/", {}, format="json").json()["id"]
    assert asked(factories.complete_turn(client, other)) == ["quick"]


def test_they_are_changed_and_other_tabs_are_told(client: APIClient, session: str) -> None:
    assert change(client, session, models=["deep"]).json()["models"] == ["deep"]
    assert SessionEvent.objects.get(session=session, kind="session").payload["models"] == ["deep"]
    assert asked(factories.complete_turn(client, session)) == ["deep"]
    assert change(client, session, models=[]).json()["models"] == []
    assert asked(factories.complete_turn(client, session)) == ["quick"]


@pytest.mark.parametrize("names", [["nobody"], ["deep", "deep"], ["a", "b", "c", "d", "e"]])
def test_models_that_cannot_answer_are_refused(client: APIClient, session: str, names: list[str]) -> None:
    refused = change(client, session, models=names)
    assert (refused.status_code, refused.json()["code"], refused.json()["field"]) == (
        400, "models_invalid", "models",
    )  # fmt: skip
    assert read(client, session)["models"] == []


def test_a_model_that_is_no_longer_enabled_is_left_out(client: APIClient, session: str) -> None:
    change(client, session, models=["slow", "deep"])
    ModelConfig.objects.filter(name="slow").update(enabled=False)
    assert asked(factories.complete_turn(client, session)) == ["deep"]
    ModelConfig.objects.filter(name="deep").update(enabled=False)
    assert asked(factories.complete_turn(client, session)) == ["quick"]
    assert read(client, session)["models"] == ["slow", "deep"], "the choice stays"


def test_another_agent_brings_its_own_models(client: APIClient, session: str) -> None:
    agent = {"name": "Sailor", "prompt": "", "models": ["deep"]}
    sailor = client.post("/api/agents/", agent, format="json").json()["id"]
    change(client, session, models=["slow"])
    assert change(client, session, title="Tides").json()["models"] == ["slow"]
    assert change(client, session, agent=sailor).json()["models"] == []
    assert asked(factories.complete_turn(client, session)) == ["deep"]
    assert change(client, session, agent=None, models=["slow"]).json()["models"] == ["slow"]


def test_a_question_is_answered_again_by_the_models_of_its_turn(client: APIClient, session: str) -> None:
    first = factories.complete_turn(client, session, models=["slow", "deep"])
    factories.complete_turn(client, session, models=["quick"])
    path = f"/api/messages/{first['user_message']}/regenerations/"
    assert asked(client.post(path, {}, format="json").json()) == ["slow", "deep"]
    assert asked(client.post(path, {"models": ["deep"]}, format="json").json()) == ["deep"]
    assert read(client, session)["models"] == ["quick"], (
        "an answer asked for again is no choice for the session"
    )
