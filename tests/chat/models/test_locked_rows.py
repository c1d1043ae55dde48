"""Claims and sweeps do not wait for rows that others hold."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.infrastructure.liveness import connect
from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.sweeper.runs import sweep
from tests import broker, factories
from tests.connection_settings import connection_settings

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Waiting for a lock is an error, on each connection that a request of the test gives back and the next takes."""
    with connection_settings(lock_timeout="2s"):
        yield


def test_a_delivery_does_not_wait_for_one_that_is_claiming() -> None:
    run = factories.queued_run()
    with connect() as other, other.transaction():
        other.execute("SELECT FROM chat_run WHERE id = %s FOR NO KEY UPDATE", [run.pk])
        assert Run.objects.claim(run.pk, owner=1) is None
    assert Run.objects.claim(run.pk, owner=1) is not None


def test_a_claim_is_not_lost_to_somebody_who_only_refers_to_the_run() -> None:
    """Inserting a row that refers to the run locks it too, FOR KEY SHARE."""
    run = factories.queued_run()
    with connect() as other, other.transaction():
        other.execute("SELECT FROM chat_run WHERE id = %s FOR KEY SHARE", [run.pk])
        assert Run.objects.claim(run.pk, owner=1) is not None


def test_a_sweep_repairs_the_rest_beside_a_locked_run() -> None:
    client, session = factories.session_of_alice()
    runs = [factories.send_turn(client, one).json()["runs"][0]["id"] for one in (session, _another(client))]
    broker.queued_run_ids()
    for run in runs:
        assert Run.objects.claim(run, owner=1)
    Run.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    with connect() as other, other.transaction():
        other.execute("SELECT FROM chat_run WHERE id = %s FOR NO KEY UPDATE", [runs[0]])
        assert sweep(trust_locks=False).taken_over == 1
    assert [Run.objects.get(pk=run).status for run in runs] == [Status.RUNNING, Status.QUEUED]
    assert sweep(trust_locks=False).taken_over == 1


def test_a_session_that_is_locked_for_long_does_not_end_a_sweep() -> None:
    """The end of a run is announced under its session's lock."""
    client, session = factories.session_of_alice()
    locked, free = (
        factories.send_turn(client, one).json()["runs"][0]["id"] for one in (session, _another(client))
    )
    for run in (locked, free):
        factories.finish_run(run)
    Run.objects.update(announced_at=None, ended_at=timezone.now() - timedelta(minutes=1))
    with connect() as other, other.transaction():
        other.execute("SELECT FROM chat_session WHERE id = %s FOR UPDATE", [session])
        assert sweep(trust_locks=False).announced == 1
    assert Run.objects.get(pk=free).announced_at
    assert not Run.objects.get(pk=locked).announced_at


def test_a_run_that_cannot_be_repaired_does_not_keep_a_sweep_from_the_rest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, session = factories.session_of_alice()
    broken, other = (
        factories.send_turn(client, one).json()["runs"][0]["id"] for one in (session, _another(client))
    )
    for run in (broken, other):
        assert Run.objects.claim(run, owner=1)
    Run.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    take = Run.take_from_dead_owner

    def take_or_fail(run: Run) -> bool:
        if str(run.pk) == broken:
            raise ApiError("session_not_found")
        return take(run)

    monkeypatch.setattr(Run, "take_from_dead_owner", take_or_fail)
    assert sweep(trust_locks=False).taken_over == 1
    assert Run.objects.get(pk=other).status == Status.QUEUED
    assert f"run {broken} (quick) cannot be repaired" in caplog.text
    # It is not told again with each sweep.
    caplog.clear()
    sweep(trust_locks=False)
    assert caplog.text == ""


def _another(client: object) -> str:
    return str(client.post("/api/sessions/", {}, format="json").json()["id"])  # type: ignore[attr-defined]
