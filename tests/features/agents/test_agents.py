"""Agents: creating and changing them, assigning them to sessions, their effect on turns."""

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from chat.models import Agent, ModelConfig, PromptVersion, Run, RunSetup, Session, SessionEvent
from tests import factories

AGENTS = "/api/agents/"
WHOLE = {
    "name": "Tides",
    "emoji": "🌊",
    "description": "Knows when the water comes.",
    "questions": ["When is low water?"],
    "prompt": "Be brief.",
    "replaces_system_prompt": True,
    "reminder": "Name the Moon.",
    "tools": ["web_search", "current_time"],
    "models": ["deep", "quick"],
    "knowledge_bases": [],
    "shared_with_users": [],
    "options": {"temperature": 0.5, "stop": ["END"], "reasoning_effort": "low"},
    "context_layout": "append_only",
}
DEFAULTS = {
    "emoji": "",
    "description": "",
    "questions": [],
    "replaces_system_prompt": False,
    "reminder": "",
    "tools": [],
    "models": [],
    "knowledge_bases": [],
    "options": {},
    "shared_with_users": [],
    "context_layout": "moving",
}


def create_agent(client: APIClient, **fields: Any) -> str:
    body = {"name": "Tides", "prompt": "Be brief.", **fields}
    return str(client.post(AGENTS, body, format="json").json()["id"])


def session_of(client: APIClient, agent: str) -> str:
    return str(client.post("/api/sessions/", {"agent": agent}, format="json").json()["id"])


def read(client: APIClient, agent: str) -> dict[str, Any]:
    body: dict[str, Any] = client.get(f"{AGENTS}{agent}/").json()
    return body


class TestKeepingAgents:
    def test_a_new_agent_is_read_as_it_was_written(self, client: APIClient) -> None:
        response = client.post(AGENTS, WHOLE, format="json")
        assert response.status_code == 201
        assert {name: response.json()[name] for name in WHOLE} == WHOLE
        assert read(client, response.json()["id"]) == response.json()
        assert client.get(AGENTS).json() == [response.json()]

    def test_name_and_prompt_are_enough_and_the_prompt_may_be_empty(self, client: APIClient) -> None:
        body = read(client, create_agent(client, prompt=""))
        assert {name: body[name] for name in DEFAULTS} == DEFAULTS

    @pytest.mark.parametrize(
        ("field", "value"),
        [("emoji", "x" * 17), ("description", "x" * 301), ("questions", ["?"] * 5), ("questions", [" "])],
    )
    def test_what_people_see_of_it_is_short(self, client: APIClient, field: str, value: Any) -> None:
        response = client.post(AGENTS, {**WHOLE, field: value}, format="json")
        assert response.status_code == 400
        assert response.json()["field"].startswith(field)

    def test_a_patch_changes_what_it_names(self, client: APIClient) -> None:
        agent = create_agent(client, **WHOLE)
        response = client.patch(f"{AGENTS}{agent}/", {"reminder": ""}, format="json")
        assert response.status_code == 200
        assert {name: read(client, agent)[name] for name in WHOLE} == WHOLE | {"reminder": ""}

    def test_a_put_restores_the_defaults_of_what_it_leaves_out(self, client: APIClient) -> None:
        agent = create_agent(client, **WHOLE)
        client.put(f"{AGENTS}{agent}/", {"name": "New", "prompt": ""}, format="json")
        body = read(client, agent)
        assert (body["name"], {name: body[name] for name in DEFAULTS}) == ("New", DEFAULTS)

    def test_a_refused_change_changes_nothing(self, client: APIClient) -> None:
        agent = create_agent(client, **WHOLE)
        before = read(client, agent)
        response = client.patch(f"{AGENTS}{agent}/", {"name": "New", "tools": ["hammer"]}, format="json")
        assert (response.status_code, response.json()["code"]) == (400, "tool_unknown")
        assert read(client, agent) == before

    def test_the_sessions_of_a_deleted_agent_go_on_without(self, client: APIClient) -> None:
        agent = create_agent(client)
        session = session_of(client, agent)
        assert client.delete(f"{AGENTS}{agent}/").status_code == 204
        assert not Agent.objects.exists()
        assert client.get(f"/api/sessions/{session}/").json()["agent"] is None
        assert factories.send_turn(client, session).status_code == 202


class TestSessionsOfAgents:
    def test_an_answer_says_what_its_agent_was_called_in_its_latest_attempt(
        self, client: APIClient, session: str
    ) -> None:
        run = factories.complete_turn(client, session)["runs"][0]["id"]
        factories.complete_turn(client, session, "And then?")
        version = PromptVersion.objects.create(digest="d", content={})
        for attempt, name in ((2, "Tides"), (1, "Ebb")):
            RunSetup.objects.create(
                run_id=run, attempt=attempt, version=version, options={}, agent=uuid4(), agent_name=name
            )
        messages = client.get(f"/api/sessions/{session}/messages/").json()
        assert [one.get("agent") for one in messages] == [None, "Tides", None, None]

    def test_a_session_says_its_agent(self, client: APIClient) -> None:
        agent = create_agent(client)
        session = session_of(client, agent)
        assert client.get(f"/api/sessions/{session}/").json()["agent"] == agent
        assert client.get("/api/sessions/").json()["results"][0]["agent"] == agent

    def test_it_is_given_changed_and_taken_and_other_tabs_hear_of_it(
        self, client: APIClient, session: str
    ) -> None:
        agent = create_agent(client)
        for given in (agent, None):
            response = client.patch(f"/api/sessions/{session}/", {"agent": given}, format="json")
            assert response.json()["agent"] == given
        events = SessionEvent.objects.filter(session=session, kind="session").order_by("n")
        assert [event.payload["agent"] for event in events] == [agent, None]

    def test_a_patch_of_the_title_leaves_the_agent(self, client: APIClient) -> None:
        agent = create_agent(client)
        session = session_of(client, agent)
        response = client.patch(f"/api/sessions/{session}/", {"title": "New"}, format="json")
        assert response.json()["agent"] == agent


class TestTurnsOfAgents:
    def test_the_agents_models_answer_unless_others_are_named(self, client: APIClient) -> None:
        session = session_of(client, create_agent(client, models=["deep", "quick"]))
        first = factories.complete_turn(client, session)
        assert [run["model"] for run in first["runs"]] == ["deep", "quick"]
        assert [
            run["model"] for run in factories.complete_turn(client, session, models=["quick"])["runs"]
        ] == ["quick"]
        again = client.post(f"/api/messages/{first['user_message']}/regenerations/", {}, format="json")
        assert [run["model"] for run in again.json()["runs"]] == ["deep", "quick"]

    @pytest.mark.parametrize(("gone", "left"), [(["deep"], ["slow"]), (["deep", "slow"], ["quick"])])
    def test_models_that_are_gone_are_left_out(
        self, client: APIClient, gone: list[str], left: list[str]
    ) -> None:
        factories.create_model("slow")
        session = session_of(client, create_agent(client, models=["deep", "slow"]))
        ModelConfig.objects.filter(name__in=gone).update(enabled=False)
        assert [run["model"] for run in factories.complete_turn(client, session)["runs"]] == left

    def test_all_models_of_an_agent_count_against_the_limit(self, client: APIClient, settings: Any) -> None:
        settings.MAX_RUNS_PER_USER = 1
        session = session_of(client, create_agent(client, models=["deep", "quick"]))
        assert factories.send_turn(client, session).json()["code"] == "too_many_runs"

    def test_one_of_the_agents_tools_can_be_forced(self, client: APIClient) -> None:
        session = session_of(client, create_agent(client, tools=["current_time"]))
        started = factories.send_turn(client, session, forced_tool="current_time")
        assert started.status_code == 202
        assert Run.objects.get().forced_tool == "current_time"

    @pytest.mark.parametrize("tool", ["web_search", "hammer", ""])
    def test_a_tool_the_agent_does_not_have_cannot(self, client: APIClient, tool: str) -> None:
        session = session_of(client, create_agent(client, tools=["current_time"]))
        error = factories.send_turn(client, session, forced_tool=tool).json()
        assert (error["code"], error["field"]) == ("tool_unknown", "forced_tool")

    def test_without_an_agent_there_are_no_tools(self, client: APIClient, session: str) -> None:
        assert (
            factories.send_turn(client, session, forced_tool="current_time").json()["code"] == "tool_unknown"
        )

    def test_the_task_message_contains_the_agent(self, client: APIClient) -> None:
        agent = create_agent(client)
        run = Run.objects.claim(
            factories.send_turn(client, session_of(client, agent)).json()["runs"][0]["id"], owner=1
        )
        assert run is not None
        assert str(run.turn.session.__dict__["agent_id"]) == agent


def test_an_agent_goes_with_its_owner(client: APIClient, alice: Any) -> None:
    session_of(client, create_agent(client))
    alice.delete()
    assert not Agent.objects.exists()
    assert not Session.objects.exists()
