"""Run.history: every claim, release, takeover, stop and end is recorded by the statement that moves the run."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from chat.log.stream import append_now, read_timed_now, run_log
from chat.models import Run
from chat.models.outcome import RunOutcome
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.runs.completion import commit_end
from chat.runs.orphans import end_orphan
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return factories.queued_run()


def history_of(run: Run) -> list[tuple[Any, ...]]:
    history = Run.objects.get(pk=run.pk).history
    assert [one["at"] for one in history] == sorted(one["at"] for one in history)
    return [(one["to"], one["attempt"], one.get("owner"), one.get("why", "")) for one in history]


def claimed(run: Run, owner: int) -> Run:
    held = Run.objects.claim(run.pk, owner)
    assert held
    return held


def test_a_new_run_has_been_through_nothing(run: Run) -> None:
    assert history_of(run) == []


def test_claim_and_end(run: Run) -> None:
    claimed(run, 7)
    assert commit_end(run.pk, 1, RunOutcome(Status.FAILED, last_seq=2, error=run_error("upstream_timeout")))
    assert history_of(run) == [("running", 1, 7, ""), ("failed", 1, 7, "upstream_timeout")]


@pytest.mark.parametrize("why", ["handed_over", "owner_dead"])
def test_a_run_that_changes_hands(run: Run, why: str) -> None:
    assert claimed(run, 7).release(why)
    claimed(run, 8)
    assert history_of(run) == [("running", 1, 7, ""), ("queued", 1, 7, why), ("running", 2, 8, "")]


def test_a_claim_of_an_expired_lease_says_so(run: Run) -> None:
    claimed(run, 7)
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))
    claimed(run, 8)
    assert history_of(run)[-1] == ("running", 2, 8, "lease_expired")


def test_a_stop_that_is_asked_for_and_then_happens(run: Run) -> None:
    claimed(run, 7)
    stop_run(run.pk)
    stop_run(run.pk)
    end_orphan(Run.objects.for_work().get(pk=run.pk), Status.STOPPED)
    assert history_of(run) == [("running", 1, 7, ""), ("stopping", 1, 7, ""), ("stopped", 2, 7, "")]


def test_what_is_refused_leaves_no_trace(run: Run) -> None:
    held = claimed(run, 7)
    assert Run.objects.claim(run.pk, 8) is None
    assert not commit_end(run.pk, 9, RunOutcome(Status.COMPLETED, last_seq=2))
    assert held.release()
    assert not held.release()
    assert len(history_of(run)) == 2


def test_the_first_packet_of_each_batch_carries_the_time() -> None:
    log = run_log(uuid.uuid4(), uuid.uuid4())
    append_now(log, 1, 1, [b"a", b"b"])
    append_now(log, 1, 3, [b"c"])
    attempt, lines = read_timed_now(log, 10)
    assert (attempt, [one.line for one in lines]) == (1, [b"a", b"b", b"c"])
    first, second, third = (one.at for one in lines)
    assert first
    assert third
    assert first <= third
    assert second is None
    assert read_timed_now(run_log(uuid.uuid4(), uuid.uuid4()), 10) == (0, [])
