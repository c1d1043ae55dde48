"""Stopping runs and turns, and deleting a session with live runs."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.infrastructure import prefix_cache
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import read_now, run_log
from chat.models import Run, SessionEvent, Turn
from chat.protocol.states import Status
from tests import factories
from tests.concurrency import run_concurrently


@pytest.mark.django_db(transaction=True)
class TestStopping:
    def test_a_queued_run_is_ended_at_once_and_for_all(self, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]
        response = client.post(f"/api/runs/{run['id']}/cancellation/")
        assert (response.status_code, response.json()) == (202, {"status": "stopped"})
        assert Run.objects.claim(run["id"], owner=1) is None
        packets = client.get(f"/api/runs/{run['id']}/packets/").json()
        assert [(one["type"], one["seq"]) for one in packets["packets"]] == [("snapshot", 0), ("packet", 1)]
        assert packets["packets"][1]["obj"] == {"type": "stop", "stop_reason": "user_cancelled"}
        assert packets["complete"] is True

    def test_the_turn_ends_with_its_last_run(self, client: APIClient, session: str) -> None:
        started = factories.send_turn(client, session, models=["quick", "deep"]).json()
        client.post(f"/api/runs/{started['runs'][0]['id']}/cancellation/")
        assert Turn.objects.get().ended_at is None
        factories.finish_run(started["runs"][1]["id"])
        assert Turn.objects.get().ended_at is not None
        event = SessionEvent.objects.get(session=session, kind="overall_stop")
        assert (event.n, event.payload) == (2, {"turn": started["turn"], "stop_reason": "user_cancelled"})

    def test_a_running_run_is_asked_to_stop(self, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]
        claimed = Run.objects.claim(run["id"], owner=1)
        for _ in range(2):
            response = client.post(f"/api/runs/{run['id']}/cancellation/")
            assert (response.status_code, response.json()) == (202, {"status": "stopping"})
        assert sync_redis().exists(f"turnwire:{{{session}}}:run:{run['id']}:revoked")
        assert claimed is not None
        assert Run.objects.filter(pk=claimed.pk).move(Status.COMPLETED) == 0

    def test_what_has_ended_stays_as_it_is(self, client: APIClient, session: str) -> None:
        started = factories.complete_turn(client, session)
        for path in (f"/api/runs/{started['runs'][0]['id']}", f"/api/turns/{started['turn']}"):
            response = client.post(f"{path}/cancellation/")
            assert (response.status_code, response.json()) == (200, {"status": "completed"})

    def test_a_turn_is_stopped_whole(self, client: APIClient, session: str) -> None:
        started = factories.send_turn(client, session, models=["quick", "deep"]).json()
        Run.objects.claim(started["runs"][0]["id"], owner=1)
        response = client.post(f"/api/turns/{started['turn']}/cancellation/")
        assert (response.status_code, response.json()) == (202, {"status": "stopping"})
        assert [run.status for run in Run.objects.order_by("model_index")] == ["stopping", "stopped"]

    def test_ten_clicks_and_a_claim_end_one_way(self, alice: Any, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        stop = lambda: factories.api_client(alice).post(f"/api/runs/{run}/cancellation/").status_code  # noqa: E731
        *codes, claimed = run_concurrently(*[stop] * 5, lambda: Run.objects.claim(run, owner=1))
        assert set(codes) <= {200, 202}
        status = Run.objects.get(pk=run).status
        assert status == ("stopping" if claimed else "stopped")

    def test_the_next_message_can_be_sent_after_a_stop(self, client: APIClient, session: str) -> None:
        started = factories.send_turn(client, session).json()
        client.post(f"/api/turns/{started['turn']}/cancellation/")
        assert factories.send_turn(client, session, "again").status_code == 202


@pytest.mark.django_db(transaction=True)
class TestDeleting:
    def test_runs_are_stopped_and_keys_removed(self, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        client.post(f"/api/runs/{run}/cancellation/")
        prefix_cache.store_digests({prefix_cache.PrefixKey(session, "quick"): ["0123456789abcdef"]})
        assert client.delete(f"/api/sessions/{session}/?permanent=1").status_code == 204
        assert client.get(f"/api/sessions/{session}/").status_code == 404
        assert not list(sync_redis().scan_iter(f"turnwire:{{{session}}}:*"))
        assert not Run.objects.exists()

    def test_a_worker_that_still_writes_is_refused(self, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        Run.objects.claim(run, owner=1)
        assert client.delete(f"/api/sessions/{session}/?permanent=1").status_code == 204
        assert not Run.objects.filter(pk=run).exists()
        assert not read_now(run_log(session, run)).lines
