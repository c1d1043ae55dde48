"""What stands before the current message for one turn only, and what append-only agents keep of it in the branch."""

import logging
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Agent, PromptBlock, Run, Session, SystemPrompt
from chat.prompts import dynamic_context
from knowledge.models import Project
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> APIClient:
    cast.model("quick", is_default=True)
    return cast.client_of(cast.user("alice"))


@pytest.fixture
def session(client: APIClient) -> str:
    return str(client.post("/api/sessions/", {}, format="json").json()["id"])


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """None but those a test registers."""
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})


def say(*texts: str) -> None:
    """Each by a provider of its own, instead of what was said before."""
    dynamic_context._PROVIDERS.clear()
    for number, text in enumerate(texts):
        dynamic_context.register(f"says {number}", lambda _, text=text: text)


def carried(started: dict[str, Any]) -> list[str]:
    return [Run.objects.get(pk=run["id"]).dynamic_context for run in started["runs"]]


@pytest.mark.parametrize(
    ("said", "joined"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param(["  ", "\n"], "", id="nothing but space"),
        pytest.param([" a\n", "b"], "a\n\nb", id="stripped, a blank line between, in order"),
        pytest.param(["a", "b", " a "], "a\n\nb", id="exact repeats once"),
        pytest.param(["a", "A"], "a\n\nA", id="only exact ones"),
    ],
)
def test_blocks_are_joined(providers: None, said: list[str], joined: str) -> None:
    say(*said)
    assert dynamic_context.build(Session()) == joined


def test_what_the_application_adds_comes_last(client: APIClient, session: str, providers: None) -> None:
    say("Name: Alice.")
    (context,) = carried(cast.send(client, session, additional_context="It rains.").json())
    assert context.startswith("Name: Alice.\n\n<additional_context")
    assert "It rains." in context


def test_a_provider_knows_the_session_and_whose_it_is(
    client: APIClient, session: str, providers: None
) -> None:
    dynamic_context.register("who", lambda one: f"{one.owner.get_username()} in {one.pk}")
    assert carried(cast.send(client, session).json()) == [f"alice in {session}"]


def test_a_provider_that_fails_is_left_out_and_logged(
    client: APIClient, session: str, providers: None, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Session) -> str:
        raise RuntimeError("no such thing")

    dynamic_context.register("broken", broken)
    dynamic_context.register("unstorable", lambda _: "a\0b")
    dynamic_context.register("sound", lambda _: "It rains.")
    with caplog.at_level(logging.ERROR):
        assert carried(cast.send(client, session).json()) == ["It rains."]
    assert [record.args[0] for record in caplog.records if record.args] == ["broken", "unstorable"]


def test_a_name_is_registered_once(providers: None) -> None:
    dynamic_context.register("who", lambda _: "")
    with pytest.raises(ValueError, match="who"):
        dynamic_context.register("who", lambda _: "")


def test_an_answer_that_is_written_again_gets_its_own(
    client: APIClient, session: str, providers: None
) -> None:
    say("Monday.")
    started = cast.talk(client, session)
    say("Tuesday.")
    again = client.post(f"/api/messages/{started['user_message']}/regenerations/", {}, format="json")
    assert carried(again.json()) == ["Tuesday."]
    assert carried(started) == [""]  # cleared when the run ended


class TestAppendOnly:
    @pytest.fixture
    def agent(self, client: APIClient, session: str) -> Agent:
        body = {"name": "Tides", "prompt": "Be brief.", "context_layout": "append_only"}
        agent = client.post("/api/agents/", body, format="json").json()["id"]
        client.patch(f"/api/sessions/{session}/", {"agent": agent}, format="json")
        return Agent.objects.get(pk=agent)

    @pytest.fixture(autouse=True)
    def known(self, providers: None) -> None:
        say("Monday.")

    def blocks(self, message: str) -> dict[str, str]:
        return dict(PromptBlock.objects.filter(message=message).values_list("kind", "text"))

    def turn(self, client: APIClient, session: str, **body: Any) -> dict[str, str]:
        return self.blocks(cast.talk(client, session, **body)["user_message"])

    def test_what_holds_is_stored_once_and_again_when_it_changes(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        assert self.turn(client, session) == {"CA": "Be brief.", "D": "Monday."}
        assert self.turn(client, session) == {}
        say("Tuesday.")
        assert self.turn(client, session) == {"D": "Tuesday."}
        agent.change(prompt="Be kind.")
        assert self.turn(client, session) == {"CA": "Be kind."}
        assert self.turn(client, session) == {}

    def test_what_does_not_hold_any_more_is_taken_back(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        self.turn(client, session)
        say()
        assert self.turn(client, session) == {"D": ""}
        assert self.turn(client, session) == {}
        say("Monday.")
        assert self.turn(client, session) == {"D": "Monday."}

    def test_another_branch_does_not_count(self, client: APIClient, session: str, agent: Agent) -> None:
        self.turn(client, session)
        assert self.turn(client, session, parent=None) == {"CA": "Be brief.", "D": "Monday."}

    def test_what_is_for_one_turn_only_is_not_stored(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        started = cast.send(client, session, additional_context="It rains.").json()
        (context,) = carried(started)
        assert "It rains." in context
        assert "Monday." not in context
        assert self.blocks(started["user_message"]) == {"CA": "Be brief.", "D": "Monday."}

    def test_an_answer_that_is_written_again_replaces_what_changed(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        question = cast.talk(client, session)["user_message"]
        say("Tuesday.")
        client.post(f"/api/messages/{question}/regenerations/", {}, format="json")
        assert self.blocks(question) == {"CA": "Be brief.", "D": "Tuesday."}

    def test_a_prompt_that_is_the_system_prompt_is_no_block(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        agent.change(replaces_system_prompt=True)
        assert self.turn(client, session) == {"D": "Monday."}

    def test_nor_is_one_that_stands_in_for_an_empty_base_prompt(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        SystemPrompt.edit(" ")
        assert self.turn(client, session) == {"D": "Monday."}

    def test_without_a_prompt_of_its_own_the_projects_instructions_stand_there(
        self, client: APIClient, session: str, agent: Agent
    ) -> None:
        project = Project.objects.create(owner=agent.owner, name="Tides", instructions="Name the Moon.")
        client.patch(f"/api/sessions/{session}/", {"project": str(project.pk)}, format="json")
        assert self.turn(client, session)["CA"] == "Be brief."
        agent.change(prompt="")
        assert self.turn(client, session) == {"CA": "Name the Moon."}

    def test_blocks_know_their_tokens(self, client: APIClient, session: str, agent: Agent) -> None:
        self.turn(client, session)
        assert all(block.token_count > 0 for block in PromptBlock.objects.all())

    def test_moving_agents_store_none(self, client: APIClient, session: str, agent: Agent) -> None:
        agent.change(context_layout="moving")
        started = cast.send(client, session).json()
        assert carried(started) == ["Monday."]
        assert not PromptBlock.objects.exists()
