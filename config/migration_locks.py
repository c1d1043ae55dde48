"""Lets `migrate` wait for no lock for long, however it is started: everybody who needs the table waits behind it.

Not by a startup option, which a pooler may refuse and which `make run` does not have.
"""

from typing import Any, Final

from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from knowledge.migration_operations import LOCK_TIMEOUT

# What the operator has set for the connection counts more.
_LIMIT: Final = "SELECT set_config('lock_timeout', %s, FALSE) WHERE current_setting('lock_timeout') = '0'"


def install(sender: Any) -> None:
    """sender: the app for which Django sends the signals once each."""
    pre_migrate.connect(_limit, sender=sender, dispatch_uid="limit lock waits")
    post_migrate.connect(_reset, sender=sender, dispatch_uid="reset lock waits")


def _limit(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(_LIMIT, [LOCK_TIMEOUT])


def _reset(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
