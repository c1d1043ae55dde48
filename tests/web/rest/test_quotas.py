"""Quotas of sessions, agents, tokens and answers: at the limit accepted, beyond it refused, freed by deletion."""

import json
from typing import Any

import pytest
from knox.models import AuthToken
from rest_framework.test import APIClient

from chat.models import Agent, ModelConfig, Run, Session
from chat.protocol.errors import ApiError
from chat.sessions.portable.importer import import_session
from tests import factories
from tests.concurrency import run_concurrently

AGENT = {"name": "Tides", "prompt": "Be brief."}
TOKENS = "/api/auth/tokens/"
IMPORT = "/api/sessions/import/"
AT_ONCE = 8


def post(client: APIClient, path: str, body: Any = None) -> Any:
    return client.post(path, body or {}, format="json")


def refusal(response: Any) -> tuple[int, str, int]:
    body = response.json()
    return response.status_code, body["code"], body["max"]


def exported(client: APIClient, session: str) -> Any:
    response: Any = client.get(f"/api/sessions/{session}/export/")
    return b"".join(response.streaming_content)


def import_of(client: APIClient, content: bytes) -> Any:
    return client.post(IMPORT, content, content_type="application/json")


def imported_by(owner: Any, content: bytes) -> int:
    """The status of an import past the number of those that one process takes at once."""
    try:
        import_session(owner, json.loads(content))
    except ApiError as error:
        return error.status
    return 201


def regenerate(client: APIClient, question: str, **body: Any) -> Any:
    return post(client, f"/api/messages/{question}/regenerations/", body)


class TestSessions:
    def test_one_more_is_refused_until_one_is_deleted(
        self, client: APIClient, session: str, settings: Any
    ) -> None:
        settings.MAX_SESSIONS_PER_USER = 2
        assert post(client, "/api/sessions/").status_code == 201
        assert refusal(post(client, "/api/sessions/")) == (409, "too_many_sessions", 2)
        client.delete(f"/api/sessions/{session}/?permanent=1")
        assert post(client, "/api/sessions/").status_code == 201

    def test_an_import_is_one_more_and_stores_nothing_if_it_is_refused(
        self, client: APIClient, session: str, settings: Any
    ) -> None:
        factories.complete_turn(client, session)
        content = exported(client, session)
        settings.MAX_SESSIONS_PER_USER = 2
        assert import_of(client, content).status_code == 201
        runs = Run.objects.count()
        assert refusal(import_of(client, content)) == (409, "too_many_sessions", 2)
        assert (Session.objects.count(), Run.objects.count()) == (2, runs)

    def test_others_are_not_counted_and_0_is_no_limit(
        self, client: APIClient, session: str, settings: Any
    ) -> None:
        settings.MAX_SESSIONS_PER_USER = 1
        bob = factories.api_client(factories.create_user("bob"))
        assert post(bob, "/api/sessions/").status_code == 201
        settings.MAX_SESSIONS_PER_USER = 0
        assert post(client, "/api/sessions/").status_code == 201

    @pytest.mark.django_db(transaction=True)
    def test_created_and_imported_side_by_side_no_more_than_allowed_exist(
        self, alice: Any, client: APIClient, session: str, settings: Any
    ) -> None:
        factories.complete_turn(client, session)
        content = exported(client, session)
        settings.MAX_SESSIONS_PER_USER = 4
        creates = [lambda: post(factories.api_client(alice), "/api/sessions/").status_code] * AT_ONCE
        imports = [lambda: imported_by(alice, content)] * AT_ONCE
        statuses = run_concurrently(*creates, *imports)
        assert sorted(statuses) == [201] * 3 + [409] * (2 * AT_ONCE - 3)
        assert Session.objects.count() == 4


class TestAgents:
    def test_one_more_is_refused_until_one_is_deleted(self, client: APIClient, settings: Any) -> None:
        settings.MAX_AGENTS_PER_USER = 2
        first, second = (post(client, "/api/agents/", AGENT).json()["id"] for _ in range(2))
        assert refusal(post(client, "/api/agents/", AGENT)) == (409, "too_many_agents", 2)
        assert client.put(f"/api/agents/{second}/", AGENT, format="json").status_code == 200
        client.delete(f"/api/agents/{first}/")
        assert post(client, "/api/agents/", AGENT).status_code == 201

    @pytest.mark.django_db(transaction=True)
    def test_side_by_side_no_more_than_allowed_exist(self, alice: Any, settings: Any) -> None:
        settings.MAX_AGENTS_PER_USER = 3
        creates = [lambda: post(factories.api_client(alice), "/api/agents/", AGENT)] * AT_ONCE
        statuses = [response.status_code for response in run_concurrently(*creates)]
        assert sorted(statuses) == [201] * 3 + [409] * (AT_ONCE - 3)
        assert Agent.objects.count() == 3


class TestTokens:
    def test_one_more_is_refused_until_one_is_deleted(self, client: APIClient, settings: Any) -> None:
        settings.MAX_API_TOKENS_PER_USER = 2
        first, _ = (post(client, TOKENS).json()["id"] for _ in range(2))
        assert refusal(post(client, TOKENS)) == (409, "too_many_tokens", 2)
        client.delete(f"{TOKENS}{first}/")
        assert post(client, TOKENS).status_code == 201

    @pytest.mark.django_db(transaction=True)
    def test_logging_in_by_password_makes_no_more_than_allowed_either(self, db: None, settings: Any) -> None:
        settings.MAX_API_TOKENS_PER_USER = 3
        pat = factories.create_user("pat", "pat")
        login = {"username": "pat", "password": "pat"}
        logins = [lambda: post(APIClient(), "/api/auth/token/", login)] * 4
        made = [lambda: post(factories.api_client(pat), TOKENS)] * 4
        answers = run_concurrently(*logins, *made)
        assert sorted(answer.status_code // 100 for answer in answers) == [2] * 3 + [4] * 5
        refused = [answer for answer in answers if answer.status_code // 100 == 4]
        assert {refusal(answer) for answer in refused} == {(409, "too_many_tokens", 3)}
        assert AuthToken.objects.filter(user=pat).count() == 3


class TestAnswersOfAQuestion:
    def test_all_columns_and_models_are_counted_and_another_question_is_free(
        self, client: APIClient, session: str, settings: Any
    ) -> None:
        settings.MAX_ANSWERS_PER_QUESTION = 4
        started = factories.complete_turn(client, session, models=["quick", "deep"])
        question, run = started["user_message"], started["runs"][0]["id"]
        again = regenerate(client, question, replace={"run": run})
        assert again.status_code == 202
        factories.finish_run(again.json()["runs"][0]["id"])
        assert refusal(regenerate(client, question, models=["quick", "deep"])) == (409, "too_many_answers", 4)
        assert regenerate(client, question, models=["deep"]).status_code == 202
        assert refusal(regenerate(client, question, models=["deep"])) == (409, "too_many_answers", 4)
        assert refusal(regenerate(client, question, replace={"run": run})) == (409, "too_many_answers", 4)
        assert factories.send_turn(client, session, "Hello", parent=None).status_code == 202

    def test_a_send_to_more_models_is_refused(self, client: APIClient, session: str, settings: Any) -> None:
        settings.MAX_ANSWERS_PER_QUESTION = 1
        refused = factories.send_turn(client, session, models=["quick", "deep"])
        assert refusal(refused) == (409, "too_many_answers", 1)
        assert factories.send_turn(client, session).status_code == 202

    def test_a_repeat_still_gets_the_first_answer(
        self, client: APIClient, session: str, settings: Any
    ) -> None:
        body = {"models": ["quick", "deep"], "client_message_id": "m1"}
        first = factories.send_turn(client, session, **body)
        settings.MAX_ANSWERS_PER_QUESTION = 1
        again = factories.send_turn(client, session, **body)
        assert (again.status_code, again.json()) == (200, first.json())

    def test_an_import_has_no_more_either(self, client: APIClient, session: str, settings: Any) -> None:
        factories.complete_turn(client, session, models=["quick", "deep"])
        content = exported(client, session)
        settings.MAX_ANSWERS_PER_QUESTION = 1
        assert refusal(import_of(client, content)) == (409, "too_many_answers", 1)
        settings.MAX_ANSWERS_PER_QUESTION = 2
        assert import_of(client, content).status_code == 201

    @pytest.mark.django_db(transaction=True)
    def test_side_by_side_no_more_than_allowed_exist(
        self, alice: Any, client: APIClient, session: str, settings: Any
    ) -> None:
        settings.MAX_ANSWERS_PER_QUESTION = 4
        question = factories.complete_turn(client, session)["user_message"]
        asked = [lambda: regenerate(factories.api_client(alice), question)] * AT_ONCE
        statuses = [response.status_code for response in run_concurrently(*asked)]
        assert sorted(statuses) == [202] * 3 + [409] * (AT_ONCE - 3)


class TestPagesOfAgents:
    def test_pages_join_to_the_whole_list(self, client: APIClient) -> None:
        made = [post(client, "/api/agents/", AGENT).json()["id"] for _ in range(5)]
        pages: list[list[str]] = []
        query: dict[str, Any] = {"limit": 2}
        while page := [agent["id"] for agent in client.get("/api/agents/", query).json()]:
            pages.append(page)
            query["before"] = page[-1]
        assert [len(page) for page in pages] == [2, 2, 1]
        assert [agent for page in pages for agent in page] == list(reversed(made))

    def test_agents_changed_at_the_same_time_are_neither_skipped_nor_repeated(
        self, alice: Any, client: APIClient
    ) -> None:
        for _ in range(3):
            post(client, "/api/agents/", AGENT)
        Agent.objects.update(updated_at=Agent.objects.values_list("updated_at", flat=True)[0])
        whole = [agent["id"] for agent in client.get("/api/agents/").json()]
        rest = client.get("/api/agents/", {"limit": 2, "before": whole[0]}).json()
        assert [agent["id"] for agent in rest] == whole[1:]

    def test_a_page_has_at_most_200_and_strangers_are_no_cursor(self, alice: Any, client: APIClient) -> None:
        Agent.objects.bulk_create(Agent(owner=alice, name="Tides") for _ in range(201))
        assert len(client.get("/api/agents/").json()) == 200
        assert client.get("/api/agents/", {"limit": 201}).json()["code"] == "invalid_pagination"
        strange = Agent.objects.create(owner=factories.create_user("bob"), name="Bob's")
        refused = client.get("/api/agents/", {"before": str(strange.pk)})
        assert (refused.status_code, refused.json()["code"]) == (404, "agent_not_found")


def test_unlimited_is_possible(client: APIClient, session: str, settings: Any) -> None:
    for name in (
        "MAX_SESSIONS_PER_USER",
        "MAX_AGENTS_PER_USER",
        "MAX_PROJECTS_PER_USER",
        "MAX_API_TOKENS_PER_USER",
        "MAX_ANSWERS_PER_QUESTION",
    ):
        setattr(settings, name, 0)
    assert ModelConfig.objects.count() == 2
    assert post(client, "/api/sessions/").status_code == 201
    assert post(client, "/api/agents/", AGENT).status_code == 201
    assert post(client, "/api/projects/", {"name": "Tides"}).status_code == 201
    assert post(client, TOKENS).status_code == 201
    question = factories.complete_turn(client, session, models=["quick", "deep"])["user_message"]
    assert regenerate(client, question).status_code == 202


def test_the_use_of_each_is_reported_beside_its_limit(client: APIClient, session: str, settings: Any) -> None:
    settings.MAX_SESSIONS_PER_USER, settings.MAX_AGENTS_PER_USER = 5, 0
    post(client, "/api/agents/", AGENT)
    post(client, TOKENS)
    rows = {row["code"]: (row["used"], row["max"]) for row in client.get("/api/usage/limits/").json()}
    assert (rows["sessions"], rows["agents"], rows["tokens"]) == ((1, 5), (1, None), (1, 1000))
