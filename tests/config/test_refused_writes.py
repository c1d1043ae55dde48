"""A write that Postgres refuses is an outage, and its connection is replaced: another server may accept writes."""

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from chat.models import Leadership

pytestmark = pytest.mark.django_db(transaction=True)


def use_orm() -> None:
    with transaction.atomic():
        User.objects.create(username="alice")


def use_prepared_statement() -> None:
    assert Leadership.objects.hold("sweeper", 2)


@pytest.mark.parametrize("write", [use_orm, use_prepared_statement])
def test_a_refused_write_succeeds_with_the_next_connection(write) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    with pytest.raises(OperationalError, match="read-only"):
        write()
    connection.close()
    write()
