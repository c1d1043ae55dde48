"""A held lock shows that its process is alive; a closed connection frees it."""

import time

import pytest
from django.db import connection

from chat.infrastructure import liveness

pytestmark = pytest.mark.django_db(transaction=True)


def is_held(owner: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {liveness.LOCK_IS_HELD.format(owner='%s')}", [owner])
        return bool(cursor.fetchone()[0])


def test_a_lock_is_seen_while_it_is_held_and_gone_when_its_connection_is() -> None:
    lock = liveness.Lock(liveness.new_owner())
    assert not is_held(lock.number)
    assert lock.hold()
    assert lock.hold(), "holding it again is harmless"
    assert is_held(lock.number)
    lock.release()
    limit = time.monotonic() + 60
    while is_held(lock.number):  # Postgres notices a moment later
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize("number", [1, 2**32 - 1, 2**32, 2**62 - 1])
def test_every_size_of_number_is_recognised(number: int) -> None:
    lock = liveness.Lock(number)
    assert lock.hold()
    assert is_held(number)
    assert not is_held(number + 1)
    lock.release()


def test_only_one_holds_a_lock() -> None:
    first, second = liveness.Lock(7), liveness.Lock(7)
    assert first.hold()
    assert not second.hold()
    first.release()
    assert second.hold()
    second.release()


def test_a_lost_connection_is_said_and_the_next_call_takes_the_lock_again() -> None:
    import psycopg

    lock = liveness.Lock(liveness.new_owner())
    lock.hold()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
            "AND ((classid::bigint << 32) | objid::bigint) = %s",
            [lock.number],
        )
    with pytest.raises(psycopg.OperationalError):
        lock.hold()
    assert lock.hold()
    assert is_held(lock.number)
    lock.release()
