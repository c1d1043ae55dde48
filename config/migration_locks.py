"""Limits the time that `migrate` waits for a lock, however it is started.

Everybody who needs the table waits behind it. A startup option is no alternative: a pooler may refuse it, and `make
run` does not have it.
"""

from typing import Any, Final

from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from knowledge.migration_operations import LOCK_TIMEOUT

# A limit that the operator has set for the connection takes precedence.
_LIMIT: Final = "SELECT set_config('lock_timeout', %s, FALSE) WHERE current_setting('lock_timeout') = '0'"


def install(sender: Any) -> None:
    """Connect the signals of `migrate`. sender: the app for which Django sends each of them once."""
    pre_migrate.connect(_limit, sender=sender, dispatch_uid="limit lock waits")
    post_migrate.connect(_reset, sender=sender, dispatch_uid="reset lock waits")


def _limit(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(_LIMIT, [LOCK_TIMEOUT])


def _reset(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
