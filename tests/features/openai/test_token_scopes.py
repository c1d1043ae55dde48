"""Tokens for other programs alone, for one agent alone, and with limits of their own."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from knox.models import AuthToken

from chat.models import Agent, ModelConfig, Run, Scope, Session, TokenScope, TokenUse, Turn
from chat.models.token_scope import token_id
from chat.sweeper.retention import TokenUsePurger
from chat.transcript.finish import Finish
from chat.transcript.usage import RunSpending
from features.openai import responses
from knowledge.models import File
from tests import factories
from tests.features.openai.test_models import by_token, ids, refused
from tests.features.openai.test_responses import post
from tests.web.rest.test_daily_limits import end

pytestmark = pytest.mark.django_db(transaction=True)


def ask_chat(client: Any, model: str) -> Any:
    body = {"model": model, "messages": [{"role": "user", "content": "Hm?"}], "store": True, "stream": True}
    return client.post("/v1/chat/completions", body, content_type="application/json")


def run_of_token(client: Any, **body: Any) -> Run:
    """Start a response, and claim its run."""
    answer = post(client, **body)
    assert answer.status_code == 200, answer.content
    run = Run.objects.claim(answer.json()["id"].removeprefix("resp_"), owner=7)
    assert run
    return run


def test_a_token_for_asking_asks(alice: Any) -> None:
    client = by_token(alice, Scope.CHAT)
    assert ids(client) == ["quick", "deep"]
    answer = post(client)
    assert answer.status_code == 200
    assert client.get(f"/v1/responses/{answer.json()['id']}").status_code == 200


def test_a_token_for_an_agent_asks_no_other_and_no_model(alice: Any) -> None:
    pilot, _ = (Agent.objects.create(owner=alice, name=name) for name in ("Pilot", "Other"))
    elsewhere = post(by_token(alice), model="agent/other").json()
    client = by_token(alice, Scope.AGENT, agent=pilot)
    assert ids(client) == ["agent/pilot"]
    for model in ("quick", "agent/other"):
        refused(client.get(f"/v1/models/{model}"), 404, "model_not_found", "model")
        refused(post(client, model=model), 404, "model_not_found", "model")
        refused(ask_chat(client, model), 404, "model_not_found", "model")
    refused(client.get(f"/v1/responses/{elsewhere['id']}"), 404, "not_found")
    refused(client.post(f"/v1/responses/{elsewhere['id']}/cancel"), 404, "not_found")
    refused(client.delete(f"/v1/responses/{elsewhere['id']}"), 404, "not_found")
    refused(
        post(client, previous_response_id=elsewhere["id"]),
        404,
        "previous_response_not_found",
        "previous_response_id",
    )
    refused(post(client, conversation=elsewhere["conversation"]["id"]), 404, "not_found", "conversation")
    assert Turn.objects.count() == 1
    for body in ({}, {"model": "agent/pilot"}):
        answer = post(client, **body)
        assert answer.status_code == 200, answer.content
        run = Run.objects.get(pk=answer.json()["id"].removeprefix("resp_"))
        assert run.turn.session.agent_id == pilot.pk
        assert client.get(f"/v1/responses/{answer.json()['id']}").status_code == 200


def test_a_token_for_an_agent_names_files_of_its_chats_alone(alice: Any) -> None:
    pilot, other = (Agent.objects.create(owner=alice, name=name) for name in ("Pilot", "Other"))
    file = File.objects.create(owner=alice, name="a.txt", status="ready", text="Two.", token_count=1)
    asks = {
        "responses": (
            {"type": "input_text", "text": "What?"},
            {"type": "input_file", "file_id": str(file.pk)},
        ),
        "chat/completions": (
            {"type": "text", "text": "What?"},
            {"type": "file", "file": {"file_id": str(file.pk)}},
        ),
    }

    def ask(client: Any, route: str) -> Any:
        messages = [{"role": "user", "content": asks[route]}]
        if route == "responses":
            return post(client, input=messages)
        body = {"model": "agent/pilot", "messages": messages, "stream": True}
        return client.post("/v1/chat/completions", body, content_type="application/json")

    client = by_token(alice, Scope.AGENT, agent=pilot)
    elsewhere = by_token(alice, Scope.AGENT, agent=other)
    for route, param in (("responses", "input"), ("chat/completions", "messages")):
        refused(ask(client, route), 404, "file_not_found", param)
    frontend = {
        "threadId": "t",
        "runId": "r",
        "messages": [
            {
                "id": "q",
                "role": "user",
                "content": [
                    {"type": "text", "text": "What?"},
                    {"type": "document", "source": {"type": "file", "value": str(file.pk)}},
                ],
            }
        ],
    }
    answer = client.post("/agui", frontend, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")
    # Another of the user's tokens tells the agent of the file; from then on the agent's token may name it.
    message = [{"role": "user", "content": asks["responses"]}]
    assert post(by_token(alice), model="agent/pilot", input=message).status_code == 200
    for route in asks:
        with closing(ask(client, route)) as answer:
            assert answer.status_code == 200
        assert ask(elsewhere, route).status_code == 404


def test_a_token_for_an_agent_that_is_gone_asks_nothing(alice: Any) -> None:
    pilot = Agent.objects.create(owner=alice, name="Pilot")
    plain = post(by_token(alice)).json()
    client = by_token(alice, Scope.AGENT, agent=pilot)
    pilot.delete()
    assert ids(client) == []
    refused(post(client), 404, "model_not_found", "model")
    refused(post(client, model="quick"), 404, "model_not_found", "model")
    refused(client.get(f"/v1/responses/{plain['id']}"), 404, "not_found")


def test_an_agent_that_is_no_longer_shared_is_not_asked_by_an_older_token(alice: Any) -> None:
    pilot = Agent.objects.create(owner=factories.create_user("bob"), name="Pilot")
    pilot.shared_with_users.add(alice)
    client = by_token(alice, Scope.AGENT, agent=pilot)
    assert post(client).status_code == 200
    pilot.shared_with_users.clear()
    refused(post(client), 404, "model_not_found", "model")


def test_the_answers_to_a_token_are_limited_for_a_day(alice: Any) -> None:
    client = by_token(alice, Scope.CHAT, tokens_per_day=100)
    run = run_of_token(client)
    Run.objects.spend(run.pk, RunSpending(1, 0, 0, 99))
    assert post(client).status_code == 200
    end(run, 100)
    answer = post(client)
    refused(answer, 429, "daily_limit_reached")
    assert int(answer["Retry-After"]) <= 86_400
    assert post(by_token(alice)).status_code == 200, "other tokens are not limited"
    api = factories.api_client(alice)
    session = api.post("/api/sessions/", {}, format="json").json()["id"]
    assert factories.send_turn(api, session).status_code == 202, "nor is a login"
    TokenUse.objects.update(day=datetime.now(UTC).date() - timedelta(days=1))
    assert post(client).status_code == 200


def test_the_cost_of_the_answers_to_a_token_is_limited(alice: Any) -> None:
    ModelConfig.objects.update(prompt_price=100_000, completion_price=0)
    client = by_token(alice, cost_per_day=Decimal("2.5"))
    end(run_of_token(client), 1, prompt=30)
    refused(post(client), 429, "daily_limit_reached")


def test_every_way_to_start_runs_counts_for_the_token(alice: Any) -> None:
    row, token = TokenScope.objects.create_token(alice, tokens_per_day=100)
    robot = factories.api_client(alice)
    robot.logout()
    robot.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    session = robot.post("/api/sessions/", {}, format="json").json()["id"]
    turn = factories.complete_turn(robot, session)
    run = Run.objects.get(pk=turn["runs"][0]["id"])
    assert run.turn.api_token == token_id(row.digest)
    Run.objects.filter(pk=run.pk).update(finish_reason="length")
    again = f"/api/messages/{turn['user_message']}/regenerations/"
    TokenUse.objects.create(
        token=token_id(row.digest), day=datetime.now(UTC).date(), runs=0, tokens=100, cost=0
    )
    refusals = [
        factories.send_turn(robot, session),
        robot.post(again, {}, format="json"),
        robot.post(f"/api/runs/{run.pk}/continuation/", {}, format="json"),
    ]
    assert {(answer.status_code, answer.json()["limit"]) for answer in refusals} == {
        (429, "token_tokens_per_day")
    }


def test_a_continuation_is_use_of_the_token_that_asked_for_it(alice: Any) -> None:
    api = factories.api_client(alice)
    session = api.post("/api/sessions/", {}, format="json").json()["id"]
    run = Run.objects.claim(factories.send_turn(api, session).json()["runs"][0]["id"], owner=7)
    assert run
    end(run, 100, finish=Finish("length", 10))
    assert not TokenUse.objects.exists()
    row, token = TokenScope.objects.create_token(alice)
    robot = factories.api_client(alice)
    robot.logout()
    robot.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert robot.post(f"/api/runs/{run.pk}/continuation/", {}, format="json").status_code == 202
    continued = Run.objects.claim(run.pk, owner=8)
    assert continued
    end(continued, 150)
    [used] = TokenUse.objects.by_day(alice, datetime.now(UTC).date(), datetime.now(UTC).date())
    assert (used["token"], used["used_runs"], used["used_tokens"]) == (token_id(row.digest), 1, 50)


def test_the_use_of_a_token_is_summed_and_goes_with_it(alice: Any) -> None:
    used, other = (TokenScope.objects.create_token(alice)[0] for _ in range(2))
    today = datetime.now(UTC).date()
    for row in (used, used, other):
        TokenUse.objects.create(token=token_id(row.digest), day=today, runs=1, tokens=20, cost=Decimal("0.5"))
    TokenUsePurger().work()
    rows = TokenUse.objects.order_by("tokens").values_list("token", "runs", "tokens", "cost")
    assert list(rows) == [
        (token_id(other.digest), 1, 20, Decimal("0.5")),
        (token_id(used.digest), 2, 40, Decimal(1)),
    ]
    AuthToken.objects.filter(pk=used.pk).delete()
    TokenUsePurger().work()
    assert TokenUse.objects.get().token == token_id(other.digest)


def test_an_answer_is_stored_whose_token_was_deleted_meanwhile(alice: Any) -> None:
    client = by_token(alice)
    run = run_of_token(client)
    AuthToken.objects.all().delete()
    end(run, 100)
    run.refresh_from_db()
    assert not run.is_live


def test_the_command_makes_tokens_with_limits(alice: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pilot = Agent.objects.create(owner=alice, name="Pilot")
    call_command("create_token", "alice", agent="Pilot", tokens_per_day=5, label="Mail")
    made = TokenScope.objects.get()
    assert (made.scope, made.agent, made.tokens_per_day, made.name) == ("agent", pilot, 5, "Mail")
    client = by_token(alice)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {capsys.readouterr().out.strip()}"
    assert ids(client) == ["agent/pilot"]


@pytest.mark.parametrize("options", [{"agent": ""}, {"agent": "Nobody"}, {"label": "x" * 101}])
def test_the_command_makes_no_token_of_more_scope_than_was_asked_for(
    alice: Any, options: dict[str, str]
) -> None:
    with pytest.raises(CommandError):
        call_command("create_token", "alice", **options)
    assert not AuthToken.objects.exists()


@pytest.mark.parametrize(
    "limit", ["--cost-per-day=1,50", "--cost-per-day=nan", "--cost-per-day=0", "--tokens-per-day=-1"]
)
def test_the_command_refuses_what_is_no_limit(alice: Any, limit: str) -> None:
    with pytest.raises(CommandError):
        call_command("create_token", "alice", limit)
    assert not AuthToken.objects.exists()


def test_an_answer_that_goes_on_beside_another_stays_use_of_the_first_token(alice: Any) -> None:
    row, token = TokenScope.objects.create_token(alice)
    robot = factories.api_client(alice)
    robot.logout()
    robot.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    session = robot.post("/api/sessions/", {}, format="json").json()["id"]
    runs = factories.send_turn(robot, session, models=["quick", "deep"]).json()["runs"]
    cut, live = (Run.objects.claim(run["id"], owner=7) for run in runs)
    assert cut
    assert live
    end(cut, 10, finish=Finish("length", 10))
    page = factories.api_client(alice)
    assert page.post(f"/api/runs/{cut.pk}/continuation/", {}, format="json").status_code == 202
    end(live, 20)
    [used] = TokenUse.objects.by_day(alice, datetime.now(UTC).date(), datetime.now(UTC).date())
    assert (used["token"], used["used_tokens"]) == (token_id(row.digest), 30)


def test_an_agent_that_is_unshared_while_files_are_read_is_not_replaced_by_a_model(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot = Agent.objects.create(owner=factories.create_user("bob"), name="Pilot")
    pilot.shared_with_users.add(alice)
    client = by_token(alice, Scope.AGENT, agent=pilot)
    open_session = responses.open_session

    def unshare(*args: Any, **fields: Any) -> Any:
        opened = open_session(*args, **fields)
        pilot.shared_with_users.clear()
        return opened

    monkeypatch.setattr(responses, "open_session", unshare)
    refused(post(client), 404, "model_not_found", "model")
    assert not Session.objects.exists()
    assert not Run.objects.exists()
