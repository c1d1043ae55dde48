"""Pinned and archived sessions, in lists and searches."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests import factories


def titles(client: APIClient, **query: Any) -> list[str]:
    return [one["title"] for one in client.get("/api/sessions/", query).json()["results"]]


def change(client: APIClient, session: str, **fields: Any) -> dict[str, Any]:
    response = client.patch(f"/api/sessions/{session}/", fields, format="json")
    assert response.status_code == 200, response.content
    row: dict[str, Any] = response.json()
    return row


@pytest.fixture
def sessions(client: APIClient) -> dict[str, str]:
    """Title -> id, oldest first."""
    return {
        title: client.post("/api/sessions/", {"title": title}, format="json").json()["id"]
        for title in ("Moons", "Tides", "Bread")
    }


def test_a_new_session_is_neither_pinned_nor_archived(client: APIClient, sessions: dict[str, str]) -> None:
    row = client.get(f"/api/sessions/{sessions['Moons']}/").json()
    assert (row["is_pinned"], row["is_archived"]) == (False, False)


def test_pinned_sessions_are_asked_for_and_the_list_keeps_its_order(
    client: APIClient, sessions: dict[str, str]
) -> None:
    row = change(client, sessions["Moons"], is_pinned=True)
    assert (row["is_pinned"], row["is_archived"]) == (True, False)
    assert titles(client) == ["Bread", "Tides", "Moons"]
    assert titles(client, pinned="1") == ["Moons"]
    assert titles(client, pinned="0") == ["Bread", "Tides"]
    change(client, sessions["Moons"], is_pinned=False)
    assert titles(client, pinned="1") == []


def test_archived_sessions_leave_the_list_and_are_found_by_searches(
    client: APIClient, sessions: dict[str, str]
) -> None:
    factories.complete_turn(client, sessions["Tides"], "Why does the moon pull?")
    change(client, sessions["Tides"], is_archived=True, is_pinned=True)
    assert titles(client) == ["Bread", "Moons"]
    assert titles(client, pinned="1") == []
    assert titles(client, archived="1") == ["Tides"]
    assert titles(client, archived="1", pinned="1") == ["Tides"]
    assert titles(client, search="pull") == ["Tides"]
    assert titles(client, search="pull", archived="0") == []
    assert titles(client, search=" ") == ["Bread", "Moons"]


def test_an_archived_session_goes_on_and_stays_archived(client: APIClient, sessions: dict[str, str]) -> None:
    change(client, sessions["Tides"], is_archived=True)
    factories.complete_turn(client, sessions["Tides"], "And at night?")
    assert client.get(f"/api/sessions/{sessions['Tides']}/").json()["is_archived"] is True


def test_archived_sessions_of_a_project_leave_its_list_too(
    client: APIClient, sessions: dict[str, str]
) -> None:
    project = client.post("/api/projects/", {"name": "Sea"}, format="json").json()["id"]
    for title in ("Tides", "Moons"):
        change(client, sessions[title], project=project)
    change(client, sessions["Tides"], is_archived=True)
    assert titles(client, project=project) == ["Moons"]
    assert titles(client, project=project, archived="1") == ["Tides"]


@pytest.mark.parametrize("name", ["pinned", "archived"])
@pytest.mark.parametrize("value", ["", "true", "2", "01"])
def test_flags_are_0_or_1(client: APIClient, name: str, value: str) -> None:
    response = client.get("/api/sessions/", {name: value})
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (
        400,
        "invalid_value",
        name,
    )


@pytest.mark.parametrize("name", ["is_pinned", "is_archived"])
def test_marks_are_booleans_and_set_by_changes_alone(
    client: APIClient, sessions: dict[str, str], name: str
) -> None:
    for value in (1, "true", None):
        response = client.patch(f"/api/sessions/{sessions['Moons']}/", {name: value}, format="json")
        assert (response.status_code, response.json()["field"]) == (400, name)
    created = client.post("/api/sessions/", {name: True}, format="json")
    assert (created.status_code, created.json()["code"]) == (400, "unknown_field")


def test_others_keep_their_own(client: APIClient, sessions: dict[str, str]) -> None:
    mallory = factories.api_client(factories.create_user("mallory"))
    response = mallory.patch(f"/api/sessions/{sessions['Moons']}/", {"is_pinned": True}, format="json")
    assert response.json()["code"] == "session_not_found"
    assert titles(client, pinned="1") == []
