"""GET usage/limits/: how much of each limit is used."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests import factories


def read_limits(client: APIClient) -> dict[str, Any]:
    """By code."""
    return {row.pop("code"): row for row in client.get("/api/usage/limits/").json()}


def test_runs_in_progress_are_shown_with_their_limit(client: APIClient, session: str, settings: Any) -> None:
    settings.MAX_RUNS_PER_USER = 7
    factories.send_turn(client, session, models=["quick", "deep"])
    told = read_limits(client)["runs_in_progress"]
    assert told == {"used": 2, "max": 7, "unit": "runs", "resets_at": None, "is_estimated": False}


def test_what_has_ended_and_what_others_do_is_not_counted(client: APIClient, session: str) -> None:
    factories.complete_turn(client, session)
    other = factories.api_client(factories.create_user("bob"))
    factories.send_turn(client, session)
    assert read_limits(client)["runs_in_progress"]["used"] == 1
    assert read_limits(other)["runs_in_progress"]["used"] == 0


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_can_only_be_read(client: APIClient, method: str) -> None:
    assert getattr(client, method)("/api/usage/limits/").status_code == 405
