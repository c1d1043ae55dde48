"""A delivery says that a slot is free: it goes to a waiting run of the user who has the fewest in progress."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.models import ModelConfig, Run, Session, Turn
from chat.protocol.states import Status
from tests import factories
from tests.concurrency import run_concurrently
from tests.llm_worker.outcomes import ended

Ask = Callable[..., list[Run]]


@pytest.fixture
def bob(transactional_db: None) -> Session:
    """A session of another user's."""
    return Session.objects.start(factories.create_user("bob"))


def wait(*runs: Run) -> None:
    """The runs have waited for a slot, the first one longest."""
    for place, run in enumerate(runs):
        Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - timedelta(seconds=60 - place))


def claim(run: Run, queue: str = "llm") -> Any:
    claimed = Run.objects.claim_fairly(run.pk, queue, owner=1)
    return claimed and claimed.pk


def test_behind_a_backlog_another_user_is_answered_next(
    deliver: Any, ask: Ask, bob: Session, upstream: Any
) -> None:
    upstream.reply({"text": "Half"}, {"wait": "the end"}, times=1)
    first, second, third = (ask()[0] for _ in range(3))
    going = deliver(first)
    upstream.wait_for(lambda: len(upstream.requests) == 1)
    [other] = ask(session=bob)
    wait(second, third, other)
    assert deliver(second).result(60) is True
    ended(other, Status.COMPLETED)
    assert set(Run.objects.filter(status=Status.QUEUED).values_list("pk", flat=True)) == {second.pk, third.pk}
    upstream.release("the end")
    assert going.result(60) is True


def test_a_message_whose_run_was_answered_serves_one_that_still_waits(ask: Ask, bob: Session) -> None:
    first, second, third = (ask()[0] for _ in range(3))
    [other] = ask(session=bob)
    wait(first, second, third, other)
    # In the order of the queue; bob's message is the last, and his run the second.
    assert claim(first) == first.pk
    assert claim(second) == other.pk
    assert {claim(third), claim(other)} == {second.pk, third.pk}
    assert claim(other) is None


def test_users_with_as_many_runs_take_turns(ask: Ask, bob: Session) -> None:
    mine = [ask()[0] for _ in range(4)]
    others = [ask(session=bob)[0], ask(session=Session.objects.start(bob.owner))[0]]
    wait(*mine, *others)
    owners = {run.pk: "bob" for run in others} | {run.pk: "alice" for run in mine}
    order = [owners[claim(run)] for run in (*mine, *others)]
    assert order == ["alice", "bob", "alice", "bob", "alice", "alice"]


def test_a_run_that_has_hardly_waited_is_claimed_by_name(ask: Ask, bob: Session) -> None:
    first, second = (ask()[0] for _ in range(2))
    [other] = ask(session=bob)
    wait(first)
    assert claim(first) == first.pk
    wait(other)
    assert claim(second) == second.pk


def test_deliveries_at_once_claim_each_run_once(ask: Ask, bob: Session) -> None:
    runs = [ask()[0] for _ in range(6)] + [ask(session=Session.objects.start(bob.owner))[0] for _ in range(6)]
    wait(*runs)
    claimed = run_concurrently(*[lambda run=run: claim(run) for run in runs])
    assert sorted(claimed) == sorted(run.pk for run in runs)


def test_a_delivery_claims_nothing_of_another_queue_or_of_a_turn_that_waits(ask: Ask, bob: Session) -> None:
    ModelConfig.objects.create(name="giant", queue="slow", base_url="http://127.0.0.1:1/v1")
    [done], [slow], [waiting] = ask(), ask("Hello?", "giant"), ask(session=bob)
    Turn.objects.filter(pk=waiting.turn_id).update(after=slow.turn)
    wait(done, slow, waiting)
    assert claim(done) == done.pk
    assert claim(done) is None
    assert claim(done, "slow") == slow.pk


def test_an_expired_lease_is_taken_by_the_message_of_its_run_alone(ask: Ask, bob: Session) -> None:
    [lost], [done] = ask(), ask(session=bob)
    assert claim(lost) == lost.pk
    Run.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert claim(done) == done.pk
    assert claim(done) is None
    assert claim(lost) == lost.pk
    assert Run.objects.get(pk=lost.pk).attempt == 2
