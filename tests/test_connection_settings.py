"""What a test sets for its connections ends with it, wherever they have been meanwhile."""

import pytest
from django.db import connection

from tests.connection_settings import connection_settings

pytestmark = pytest.mark.django_db(transaction=True)


def lock_timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        return str(cursor.fetchone()[0])


def test_a_connection_that_went_back_to_the_pool_is_taken_by_no_later_test() -> None:
    before = lock_timeout()
    with connection_settings(lock_timeout="7s"):
        for _ in range(2):
            assert lock_timeout() == "7s"
            connection.close()
    assert lock_timeout() == before
