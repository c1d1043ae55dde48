"""LoginLimit: how much of a limit on failed logins is used up; one row per limited name, address or pair of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db import models, transaction
from django.db.models import F

from chat.models.sql.login_limits import PURGE, SPEND, WAIT

KEY_CHARACTERS = 64


class Charge(NamedTuple):
    """One attempt from the bucket `key`, which holds `burst` attempts; one comes back every `pause`."""

    key: str
    pause: timedelta
    burst: int


class LoginLimitQuerySet(models.QuerySet["LoginLimit"]):
    def spend(self, charges: Sequence[Charge]) -> int | None:
        """Take one attempt from every bucket, or from none; return the seconds to wait, None if all had room."""
        empty = None
        with transaction.atomic():
            # In one order, so that two attempts never wait for each other.
            for charge in sorted(charges):
                if SPEND.first(**charge._asdict()) is None:
                    empty = charge
                    transaction.set_rollback(True)
                    break
        if empty is None:
            return None
        row = WAIT.first(**empty._asdict())
        return max(1, math.ceil(row.wait_s)) if row else 1

    def give_back(self, charges: Sequence[Charge]) -> None:
        for charge in sorted(charges):
            self.filter(key=charge.key).update(free_at=F("free_at") - charge.pause)

    def forget(self, charge: Charge) -> None:
        """Fill the bucket."""
        self.filter(key=charge.key).delete()

    def purge(self) -> None:
        """Delete some of the buckets that are full again."""
        PURGE.all()


class LoginLimit(models.Model):
    # A digest, so that the table holds no names and addresses.
    key = models.CharField(primary_key=True, max_length=KEY_CHARACTERS, editable=False)
    free_at = models.DateTimeField(db_index=True)

    objects = LoginLimitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"login limit {self.key[:8]}"
