"""Leadership: which process does the work that one process does at a time, by a lease on the database's clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import models

from chat.models.sql.leadership import HOLD

# Ten renewals. The host of a leader that vanished is replaced within this time and the standby's next try.
LEADER_LEASE: Final = timedelta(seconds=10)


class LeadershipQuerySet(models.QuerySet["Leadership"]):
    def hold(self, role: str, owner: int) -> bool:
        """Take or renew the lease. False: another owner holds it, and is not known to be dead."""
        return HOLD.first(role=role, owner=owner, lease=LEADER_LEASE) is not None


class Leadership(models.Model):
    role = models.CharField(primary_key=True, max_length=32)
    # The number of the advisory lock that the process holds.
    owner = models.BigIntegerField()
    lease_until = models.DateTimeField()

    objects = LeadershipQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.role}: {self.owner}"
