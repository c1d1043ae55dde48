"""GET runs/{id}/: which worker executes a run, and since when."""

import pytest
from rest_framework.test import APIClient

from chat.models import Run
from tests import factories


@pytest.fixture
def run(client: APIClient, session: str) -> str:
    started: str = factories.send_turn(client, session).json()["runs"][0]["id"]
    return started


def test_a_queued_run_has_neither_owner_nor_lease(client: APIClient, run: str) -> None:
    body = client.get(f"/api/runs/{run}/").json()
    assert (body["attempt"], body["failures"], body["owner"]) == (0, 0, None)
    assert body["created_at"]
    assert body["queued_at"]
    assert body["deadline"]
    assert {body[name] for name in ("claimed_at", "beat_at", "lease_until", "ended_at", "announced_at")} == {
        None
    }


def test_a_running_run_tells_its_owner_its_beat_and_its_lease(client: APIClient, run: str) -> None:
    owner = 2**62 + 1  # more than JavaScript can count to
    Run.objects.claim(run, owner)
    body = client.get(f"/api/runs/{run}/").json()
    assert (body["attempt"], body["owner"]) == (1, str(owner))
    assert body["claimed_at"] == body["beat_at"] < body["lease_until"]
    assert body["ended_at"] is None


def test_a_finished_run_tells_when(client: APIClient, run: str) -> None:
    factories.finish_run(run)
    body = client.get(f"/api/runs/{run}/").json()
    assert body["claimed_at"] <= body["ended_at"] <= body["announced_at"]
    assert body["lease_until"] is None
