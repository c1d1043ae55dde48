"""An operator can requeue a run without a worker; a run with a live worker is not affected."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat.models import Run, Turn
from chat.protocol.states import Status
from chat.sweeper.runs import RequeueOutcome, requeue
from tests import broker, factories

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(hours=1)
EARLIER = timezone.now() - timedelta(hours=1)


@pytest.fixture
def run() -> Run:
    """alice's question, whose message to the workers was lost."""
    broker.queued_run_ids()
    return factories.queued_run()


def test_a_queued_run_is_enqueued_again(run: Run) -> None:
    assert requeue(run.pk) == RequeueOutcome.ENQUEUED
    assert broker.queued_run_ids() == [str(run.pk)]


@pytest.mark.parametrize(
    ("lease", "outcome", "status"),
    [
        pytest.param(EARLIER, RequeueOutcome.ENQUEUED, Status.QUEUED, id="its lease ran out"),
        pytest.param(LATER, RequeueOutcome.WORKED_ON, Status.RUNNING, id="its lease runs"),
    ],
)
def test_a_running_run_is_taken_from_the_dead_only(run: Run, lease, outcome, status) -> None:
    Run.objects.claim(run.pk, owner=1)
    Run.objects.filter(pk=run.pk).update(lease_until=lease)
    assert requeue(run.pk) == outcome
    found = Run.objects.get(pk=run.pk)
    assert (found.status, found.failures) == (status, 0)
    assert len(broker.queued_run_ids()) == (outcome == RequeueOutcome.ENQUEUED)


def test_a_turn_that_waits_for_another_goes_on_waiting(run: Run) -> None:
    before = Turn.objects.create(session=run.turn.session, user_message=run.turn.user_message)
    Turn.objects.filter(pk=run.turn_id).update(after=before)
    assert requeue(run.pk) == RequeueOutcome.WAITS
    assert broker.queued_run_ids() == []


def test_what_has_ended_stays_ended(run: Run) -> None:
    factories.finish_run(str(run.pk))
    assert requeue(run.pk) == RequeueOutcome.NOT_WAITING
    assert broker.queued_run_ids() == []
