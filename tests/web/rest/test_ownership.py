"""Every route with an object's id responds to another user as if the object did not exist. Routes are found automatically."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from tests import factories

METHODS = ("get", "post", "put", "patch", "delete")


def patterns(resolver: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for one in resolver.url_patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(one, path)
        elif isinstance(one, URLPattern):
            yield path, one


def routes() -> list[Any]:
    """(method, path with <str:noun>, nouns) of every view below /api/ that names an object."""
    found = []
    for path, pattern in patterns(get_resolver()):
        nouns = list(pattern.pattern.converters)
        view = getattr(pattern.callback, "view_class", None)
        if path.startswith("api/") and nouns and view:
            found += [
                pytest.param(method, path, nouns, id=f"{method} {path}")
                for method in METHODS
                if hasattr(view, method)
            ]
    return found


@pytest.fixture
def objects(client: APIClient, session: str) -> dict[str, str]:
    """alice's objects, by their names in paths."""
    started = factories.complete_turn(client, session)
    run = started["runs"][0]
    agent = client.post("/api/agents/", {"name": "Tides", "prompt": "Be brief."}, format="json").json()["id"]
    token = client.post("/api/auth/tokens/").json()["id"]
    ids = {"session": session, "message": run["message"], "run": run["id"], "turn": started["turn"]}
    share = client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()["id"]
    return ids | {"agent": agent, "token": token, "share": share}


def test_there_are_routes() -> None:
    nouns = {noun for case in routes() for noun in case.values[2]}
    assert {"session", "message", "run", "turn", "agent", "share"} <= nouns


@pytest.mark.parametrize(("method", "path", "nouns"), routes())
def test_an_object_of_another_user_is_not_found(
    client: APIClient, objects: dict[str, str], method: str, path: str, nouns: list[str]
) -> None:
    def answer(person: APIClient, ids: dict[str, str]) -> tuple[int, Any]:
        address = "/" + path
        for noun in nouns:
            address = address.replace(f"<str:{noun}>", ids[noun])
        response = getattr(person, method)(address, {}, format="json")
        has_body = not response.streaming and response.content
        return response.status_code, response.json() if has_body else None

    mallory = factories.api_client(factories.create_user("mallory"))
    status, theirs = answer(mallory, objects)
    assert status == 404
    absent_status, absent = answer(mallory, dict.fromkeys(objects, str(uuid.uuid4())))
    assert {**theirs, "request_id": ""} == {**absent, "request_id": ""}
    assert absent_status == 404
    assert not any(pk in str(theirs) for pk in objects.values())
    own_status, _ = answer(client, objects)
    assert own_status != 404
    assert own_status < 500


@pytest.mark.parametrize(("method", "path", "nouns"), routes())
def test_without_login_the_response_has_no_content(
    db: None, method: str, path: str, nouns: list[str]
) -> None:
    address = "/" + path
    for noun in nouns:
        address = address.replace(f"<str:{noun}>", "x")
    response = getattr(APIClient(), method)(address, {}, format="json")
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


def test_lists_show_only_ones_own(client: APIClient, objects: dict[str, str]) -> None:
    mallory = factories.api_client(factories.create_user("mallory"))
    assert mallory.get("/api/sessions/").json()["results"] == []
    assert mallory.get("/api/sessions/?search=Hello").json()["results"] == []
    assert mallory.get("/api/agents/").json() == []


def test_an_agent_of_another_user_is_not_found(client: APIClient, objects: dict[str, str]) -> None:
    mallory = factories.api_client(factories.create_user("mallory"))
    for body in ({"agent": objects["agent"]}, {"agent": str(uuid.uuid4())}):
        response = mallory.post("/api/sessions/", body, format="json")
        assert (response.status_code, response.json()["code"]) == (404, "agent_not_found")


def test_a_parent_of_another_user_is_not_found(client: APIClient, objects: dict[str, str]) -> None:
    mallory = factories.api_client(factories.create_user("mallory"))
    own = mallory.post("/api/sessions/", {}, format="json").json()["id"]
    response = factories.send_turn(mallory, own, parent=objects["message"])
    assert (response.status_code, response.json()["code"]) == (404, "parent_not_found")
