"""Models and agents as OpenAI's clients list them, by a token of the API, and errors in OpenAI's shape."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from openai.types import Model

from chat.models import Agent, ModelConfig, Scope, TokenScope
from tests import factories

pytestmark = pytest.mark.django_db
ERROR = {"message", "type", "param", "code"}


def by_token(user: Any, scope: Scope = Scope.WRITE, **fields: Any) -> Client:
    _, token = TokenScope.objects.create_token(user, scope, **fields)
    return Client(raise_request_exception=False, headers={"Authorization": f"Bearer {token}"})


def ids(client: Client) -> list[str]:
    answer = client.get("/v1/models").json()
    assert answer["object"] == "list"
    return [Model.model_validate(model, strict=True).id for model in answer["data"]]


def refused(answer: Any, status: int, code: str, param: str | None = None) -> None:
    assert answer["Content-Type"] == "application/json"
    assert (answer.status_code, set(answer.json())) == (status, {"error"}), answer.content
    error = answer.json()["error"]
    assert set(error) == ERROR
    assert (error["code"], error["param"]) == (code, param)


def test_models_and_agents_are_listed_and_read(alice: Any) -> None:
    Agent.objects.create(owner=alice, name="Harbour Pilot")
    ModelConfig.objects.create(name="maker/large")
    ModelConfig.objects.create(name="off", enabled=False)
    client = by_token(alice)
    assert ids(client) == ["quick", "deep", "maker/large", "agent/harbour pilot"]
    for name in ids(client):
        for spelling in (name, name.replace("/", "%2F")):
            answer = client.get(f"/v1/models/{spelling}")
            assert Model.model_validate(answer.json(), strict=True).id == name


def test_prompts_of_agents_are_not_read_for_their_names(alice: Any) -> None:
    Agent.objects.create(owner=alice, name="Harbour Pilot", prompt="You know each buoy.")
    client = by_token(alice)
    with CaptureQueriesContext(connection) as asked:
        assert ids(client)[-1] == "agent/harbour pilot"
    assert [sql for query in asked if '"prompt"' in (sql := query["sql"])] == []


@pytest.mark.parametrize("name", ["off", "agent/harbour pilot", "agent/", "agent/%00", "%00", "nothing"])
def test_what_the_user_may_not_use_is_no_model(alice: Any, name: str) -> None:
    ModelConfig.objects.create(name="off", enabled=False)
    Agent.objects.create(owner=factories.create_user("bob"), name="Harbour Pilot")
    refused(by_token(alice).get(f"/v1/models/{name}"), 404, "model_not_found", "model")


def test_of_equal_names_the_own_agent_precedes_a_shared_one(alice: Any) -> None:
    bob, group = factories.create_user("bob"), Group.objects.create(name="harbour")
    group.user_set.add(alice)
    own = Agent.objects.create(owner=alice, name="PILOT")
    Agent.objects.filter(pk=own.pk).update(created_at=timezone.now() - timedelta(days=2))
    for name in ("Pilot", "Other"):
        Agent.objects.create(owner=bob, name=name).shared_with.add(group)
    client = by_token(alice)
    assert ids(client)[2:] == ["agent/pilot", "agent/other"]
    own.refresh_from_db()
    assert client.get("/v1/models/agent/pilot").json()["created"] == int(own.created_at.timestamp())


def test_a_token_for_reading_reads_models(alice: Any) -> None:
    assert ids(by_token(alice, Scope.READ)) == ["quick", "deep"]


@pytest.mark.parametrize(
    "header",
    [None, "Bearer", "Bearer nonsense", "Bearer a b", "Bearer \xfc", "Basic YTpi", "Token {}"],
)
def test_a_request_without_a_valid_key_is_refused(alice: Any, header: str | None) -> None:
    _, token = TokenScope.objects.create_token(alice)
    client = Client(raise_request_exception=False)
    client.force_login(alice)
    headers = {"Authorization": header.format(token)} if header else {}
    answer = client.get("/v1/models", headers=headers)
    refused(answer, 401, "invalid_api_key")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_an_expired_token_is_no_key(alice: Any) -> None:
    client = by_token(alice, expires_in_days=-1)
    refused(client.get("/v1/models"), 401, "invalid_api_key")


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "host", "status", "code"),
    [
        ("get", "/v1/nothing", "testserver", 404, "not_found"),
        ("post", "/v1/models", "testserver", 405, "method_not_allowed"),
        ("get", "/v1/models", "evil.example", 400, "bad_request"),
    ],
)
def test_every_error_has_the_shape_of_openai(
    alice: Any, settings: Any, debug: bool, method: str, path: str, host: str, status: int, code: str
) -> None:
    settings.DEBUG = debug
    refused(getattr(by_token(alice), method)(path, headers={"Host": host}), status, code)


def test_an_unexpected_error_has_it_too(alice: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("features.openai.api.list_models", lambda _user: 1 / 0)
    refused(by_token(alice).get("/v1/models"), 500, "internal_error")
