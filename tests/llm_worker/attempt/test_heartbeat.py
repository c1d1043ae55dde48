"""Liveness lock and heartbeat of a worker, and the release of its runs when it misses heartbeats."""

import time
from datetime import timedelta

from django.db import OperationalError, connection
from django.db.models.functions import Now

from chat.infrastructure.liveness import Lock, connect
from chat.metrics.counters import REGISTRY
from chat.models import Run
from chat.protocol.states import Status
from llm_worker.attempt import heartbeat
from tests.llm_worker.outcomes import ended, wait_for_text


def holder(owner: int) -> int | None:
    """The Postgres process whose connection holds this owner's lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
            " AND ((classid::bigint << 32) | objid::bigint) = %s",
            [owner],
        )
        found = cursor.fetchone()
    return found[0] if found else None


def test_a_worker_holds_its_liveness_lock_from_start_to_stop(transactional_db, upstream):
    from llm_worker.attempt.runtime import Runtime

    runtime = Runtime()
    runtime.start()
    assert holder(runtime.owner)
    assert not Lock(runtime.owner).hold()
    runtime.stop()
    upstream.wait_for(lambda: holder(runtime.owner) is None)


def test_a_liveness_lock_whose_connection_was_lost_is_taken_again(runtime, upstream):
    before = holder(runtime.owner)
    with connect() as other:
        other.execute("SELECT pg_terminate_backend(%s)", [before])
    upstream.wait_for(lambda: holder(runtime.owner) not in (None, before))


def test_an_owner_that_missed_heartbeats_but_holds_its_lock_keeps_its_runs(deliver, ask, upstream):
    upstream.reply({"text": "Half"}, {"wait": "the look"})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    assert run.pk not in Run.objects.dead(trust_locks=True).values_list("pk", flat=True)
    upstream.release("the look")
    assert future.result(60)


def test_without_a_heartbeat_a_run_is_released_with_its_text(deliver, ask, upstream, monkeypatch):
    """The beat fails, as with Postgres away; the text is offered, and the run is there for another worker."""
    upstream.reply({"text": "Half, "}, {"hang": True}, times=1)
    upstream.reply({"text": "anew."})
    monkeypatch.setattr(Run.objects, "extend_leases", unreachable)
    monkeypatch.setattr(heartbeat, "FENCE_S", 1.0)
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    assert future.result(60) is True
    upstream.wait_for(lambda: upstream.requests[0].ended == "disconnected")
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.owner, run.failures, run.attempt) == (Status.QUEUED, None, 0, 1)
    assert run.message.text == "Half, "
    assert deliver(run).result(60) is True
    ended(run, Status.COMPLETED, text="anew.")


def test_a_write_of_an_older_attempt_is_rejected(deliver, ask, upstream, monkeypatch):
    upstream.reply({"text": "Half"}, {"hang": True})
    [run] = ask()
    monkeypatch.setattr(Run.objects, "extend_leases", unreachable)
    monkeypatch.setattr(heartbeat, "FENCE_S", 1.0)
    future = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).update(attempt=2, owner=7)
    assert future.result(60) is True
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.owner, run.message.text) == (Status.RUNNING, 7, "")


def test_the_deadline_of_a_run_comes_from_the_database(ask):
    """A worker's clock that is an hour wrong changes nothing."""
    [run] = ask()
    Run.objects.filter(pk=run.pk).update(deadline=Now() + timedelta(seconds=100))
    claimed = Run.objects.claim(run.pk, owner=7)
    assert 90 < claimed.expires_in_s <= 100
    Run.objects.filter(pk=run.pk).update(deadline=Now() - timedelta(hours=1), status=Status.QUEUED)
    assert Run.objects.claim(run.pk, owner=7).expires_in_s == 0


def unreachable(*_: object) -> dict[str, tuple[int, str]]:
    raise OperationalError("the database is away")


def test_a_loop_that_is_held_up_while_a_run_goes_on_is_measured(runtime, deliver, ask, upstream):
    def seconds() -> float:
        return REGISTRY.get_sample_value("turnwire_loop_lag_seconds_sum") or 0

    upstream.reply({"text": "Half"}, {"wait": "the look"})
    [run] = ask()
    future = deliver(run)
    wait_for_text(upstream, run)
    before = seconds()
    runtime._loop.call_soon_threadsafe(time.sleep, 1)
    upstream.wait_for(lambda: seconds() > before + 0.7)
    upstream.release("the look")
    assert future.result(60)
