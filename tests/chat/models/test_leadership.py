"""One process leads: by its lease, which a free lock ends early and a lock that is held does not prolong."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from chat.infrastructure.liveness import Lock, is_worker, new_owner, new_sweeper
from chat.models import Leadership

pytestmark = pytest.mark.django_db(transaction=True)

ROLE = "sweeper"


@pytest.fixture
def leader() -> Iterator[Lock]:
    """It holds its lock and the lease."""
    lock = Lock(new_sweeper())
    assert lock.hold()
    assert Leadership.objects.hold(ROLE, lock.number)
    yield lock
    lock.release()


def lease_s(owner: int) -> float:
    row = Leadership.objects.get(owner=owner)
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXTRACT(EPOCH FROM %s - now())::float", [row.lease_until])
        return float(cursor.fetchone()[0])


def expire() -> None:
    Leadership.objects.update(lease_until=Now() - timedelta(milliseconds=1))


def test_another_process_stands_by_while_the_leader_renews(leader: Lock) -> None:
    assert not Leadership.objects.hold(ROLE, new_sweeper())
    Leadership.objects.update(lease_until=Now() + timedelta(seconds=1))
    assert Leadership.objects.hold(ROLE, leader.number)
    assert lease_s(leader.number) > 1


def test_a_leader_whose_lock_is_free_is_replaced_at_once(leader: Lock) -> None:
    Leadership.objects.update(lease_until=Now() + timedelta(days=1))
    leader.release()
    after = new_sweeper()
    limit = time.monotonic() + 60
    # Postgres frees the lock when it has noticed the end of the session.
    while not Leadership.objects.hold(ROLE, after):
        assert time.monotonic() < limit
        time.sleep(0.01)
    assert Leadership.objects.get().owner == after


def test_a_leader_whose_lease_has_expired_is_replaced_though_its_lock_is_held(leader: Lock) -> None:
    expire()
    with Locked() as after:
        assert Leadership.objects.hold(ROLE, after.number)
        assert not Leadership.objects.hold(ROLE, leader.number)


def test_a_leader_nobody_replaced_goes_on_after_its_lease(leader: Lock) -> None:
    expire()
    assert Leadership.objects.hold(ROLE, leader.number)
    assert lease_s(leader.number) > 0


def test_other_roles_have_leaders_of_their_own(leader: Lock) -> None:
    assert Leadership.objects.hold("another role", new_sweeper())
    assert Leadership.objects.count() == 2


def test_numbers_of_sweepers_are_not_those_of_workers() -> None:
    assert {is_worker(new_sweeper()) for _ in range(100)} == {False}
    assert {is_worker(new_owner()) for _ in range(100)} == {True}


class Locked:
    """Another process's lock."""

    def __enter__(self) -> Lock:
        self.lock = Lock(new_sweeper())
        assert self.lock.hold()
        return self.lock

    def __exit__(self, *_: object) -> None:
        self.lock.release()
