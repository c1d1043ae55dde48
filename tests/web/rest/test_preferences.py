"""Preferences: read and changed by their user alone, bounded, used in all chats, and deleted with the account."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import ModelConfig, Preferences
from tests import factories

PLACE = "/api/preferences/"
METRIC = "  Answer in metric units.\n"


def change(client: APIClient, **fields: Any) -> Any:
    return client.patch(PLACE, fields, format="json")


def test_a_user_who_has_chosen_nothing_has_no_instructions(client: APIClient) -> None:
    nothing = {"instructions": "", "uses_instructions": True, "instruction_tokens": 0, "models": []}
    assert client.get(PLACE).json() == nothing
    assert not Preferences.objects.exists()


def test_instructions_are_kept_as_written_and_counted(client: APIClient) -> None:
    changed = change(client, instructions=METRIC)
    assert changed.json() == {
        "instructions": METRIC, "uses_instructions": True, "instruction_tokens": 6, "models": [],
    }  # fmt: skip
    assert client.get(PLACE).json() == changed.json()


def test_switching_them_off_keeps_the_text(client: APIClient) -> None:
    change(client, instructions=METRIC)
    assert change(client, uses_instructions=False).json()["instructions"] == METRIC
    assert client.get(PLACE).json()["uses_instructions"] is False


@pytest.mark.parametrize(("length", "status"), [(4_000, 200), (4_001, 400)])
def test_they_are_bounded(client: APIClient, length: int, status: int) -> None:
    assert change(client, instructions="ü" * length).status_code == status


def test_others_neither_see_nor_change_them(client: APIClient) -> None:
    bob = factories.api_client(factories.create_user("bob"))
    change(client, instructions=METRIC)
    assert bob.get(PLACE).json()["instructions"] == ""
    change(bob, instructions="In verse.")
    assert client.get(PLACE).json()["instructions"] == METRIC


def test_they_go_with_their_user(client: APIClient, alice: User) -> None:
    change(client, instructions=METRIC)
    alice.delete()
    assert not Preferences.objects.exists()


class TestDefaultModels:
    @pytest.fixture(autouse=True)
    def models(self, client: APIClient) -> None:
        factories.create_model("slow")

    def answering(self, client: APIClient, session: dict[str, Any], **body: Any) -> list[str]:
        made = client.post("/api/sessions/", session, format="json").json()
        return [run["model"] for run in factories.complete_turn(client, made["id"], **body)["runs"]]

    def agent(self, client: APIClient, *models: str) -> str:
        body = {"name": "Tides", "prompt": "", "models": models}
        return str(client.post("/api/agents/", body, format="json").json()["id"])

    def test_they_answer_chats_that_name_no_model(self, client: APIClient) -> None:
        assert self.answering(client, {}) == ["quick"]
        assert change(client, models=["slow", "deep"]).json()["models"] == ["slow", "deep"]
        assert self.answering(client, {}) == ["slow", "deep"]
        assert self.answering(client, {"agent": self.agent(client)}) == ["slow", "deep"]

    def test_models_of_a_turn_a_chat_and_an_agent_come_before_them(self, client: APIClient) -> None:
        change(client, models=["slow"])
        assert self.answering(client, {}, models=["quick"]) == ["quick"]
        assert self.answering(client, {"models": ["quick"]}) == ["quick"]
        assert self.answering(client, {"agent": self.agent(client, "deep")}) == ["deep"]

    def test_one_that_is_no_longer_offered_is_left_out(self, client: APIClient) -> None:
        change(client, models=["slow", "deep"])
        ModelConfig.objects.filter(name="slow").update(enabled=False)
        assert self.answering(client, {}) == ["deep"]
        ModelConfig.objects.filter(name="deep").update(enabled=False)
        assert self.answering(client, {}) == ["quick"]
        assert client.get(PLACE).json()["models"] == ["slow", "deep"], "they may be offered again"

    def test_those_of_others_do_not_count(self, client: APIClient) -> None:
        change(factories.api_client(factories.create_user("bob")), models=["slow"])
        assert self.answering(client, {}) == ["quick"]

    @pytest.mark.parametrize("names", [["nobody"], ["deep", "deep"], ["a", "b", "c", "d", "e"], None])
    def test_models_that_cannot_answer_are_refused(self, client: APIClient, names: Any) -> None:
        refused = change(client, models=names)
        assert (refused.status_code, refused.json()["code"]) == (400, "models_invalid")

    def test_the_list_of_models_says_which_they_are(self, client: APIClient) -> None:
        change(client, models=["slow"])
        assert {row["name"]: (row["is_default"], row["is_own_default"]) for row in client.get("/api/models/").json()} == {
            "quick": (True, False), "deep": (False, False), "slow": (False, True),
        }  # fmt: skip
