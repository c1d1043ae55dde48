"""The lease that Run and Compression share: one worker at a time holds a row. Leadership: one process at a time leads.

A claim gives a row to an owner (the number of a worker process) under the next attempt, which fences every later
write. Heartbeats extend the lease; a worker that shuts down releases the row. An owner is dead when its lease has
expired or, where advisory locks can be trusted, when its lock is free and a heartbeat is missing. All times are the
database's, so no worker's clock has to be right.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import BooleanField, F, Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from chat.infrastructure.liveness import LOCK_IS_HELD
from chat.models.sql.lease import HOLD
from chat.protocol.states import Status

# Owners that may die with a row before it fails for good.
MAX_FAILURES: Final = 3
# A free lock counts only beside a missed heartbeat: a worker that merely lost the lock's connection still beats.
MISSED_BEAT: Final = timedelta(seconds=2)
# A row that waits for longer may have lost its queue message.
UNCLAIMED_FOR: Final = timedelta(seconds=5)


@dataclass(frozen=True)
class LeaseTimes:
    """beat_s: seconds between heartbeats. lease_s: seconds without a heartbeat after which others may take the row."""

    beat_s: float
    lease_s: float

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_s)


# Ten heartbeats: one or two that are late cost nothing.
RUN_LEASE: Final = LeaseTimes(beat_s=1.0, lease_s=10.0)
# No user waits for a compression, so its heartbeat and takeover may be slower.
COMPRESSION_LEASE: Final = LeaseTimes(beat_s=5.0, lease_s=30.0)


class HeldLease(NamedTuple):
    """is_withdrawn: nobody may work on the row any more."""

    attempt: int
    status: str
    is_withdrawn: bool


L = TypeVar("L", bound="Leased")


class LeasedQuerySet(models.QuerySet[L]):
    # Mutators: each one UPDATE; the number of changed rows is the answer

    def move(self, to: Status, why: str = "", **fields: Any) -> int:  # noqa: ARG002  RunQuerySet keeps it
        """Move the selected rows to `to`; returns how many moved. why: for tables that keep a history."""
        return self.update(status=to, **fields)

    def requeue(self, why: str = "", **fields: Any) -> int:
        """Return the selected rows to the queue for another worker; returns how many moved."""
        return self.move(Status.QUEUED, why, owner=None, lease_until=None, queued_at=Now(), **fields)

    def extend_leases(self, owner: int, ids: Collection[UUID]) -> dict[UUID, HeldLease]:
        """Extend this owner's leases of these rows; returns those it still holds."""
        held = self.leased().filter(pk__in=ids, owner=owner)
        held.update(**_extension(self.model.lease_times))
        leases = held.annotate(is_withdrawn=self.model.is_withdrawn)
        return {
            pk: HeldLease(*lease)
            for pk, *lease in leases.values_list("pk", "attempt", "status", "is_withdrawn")
        }

    # Queries

    def unlocked(self) -> list[L]:
        """Return the rows that nobody is writing at this moment. Waits for no other row, and keeps no lock."""
        with transaction.atomic():
            return list(self.select_for_update(skip_locked=True, no_key=True, of=("self",)))

    def leased(self) -> Self:
        """Select rows that a worker holds, or held when it died."""
        return self.filter(status__in=self.model.held_statuses)

    def held_as(self, read: L) -> Self:
        """Select the row `read`, if it is still running under the attempt and owner it was read with."""
        return self.filter(pk=read.pk, attempt=read.attempt, owner=read.owner, status=Status.RUNNING)

    def dead(self, *, trust_locks: bool = False) -> Self:
        """Select rows whose owner has died: their lease has expired or, with trust_locks, their owner's lock is free.

        A held row that is not running any more needs nothing but its end: there the free lock alone is enough.
        """
        held = self.leased()
        is_dead = Q(lease_until__lt=Now()) | Q(owner__isnull=True)
        if trust_locks:
            owner = f'"{self.model._meta.db_table}"."owner"'  # noqa: SLF001  Django's documented model API
            is_locked = RawSQL(LOCK_IS_HELD.format(owner=owner), [], output_field=BooleanField())  # noqa: S611
            held = held.annotate(owner_is_locked=is_locked)
            has_missed = Q(beat_at__lt=Now() - MISSED_BEAT) | ~Q(status=Status.RUNNING)
            is_dead |= Q(owner_is_locked=False) & has_missed
        return held.filter(is_dead)

    def unclaimed(self) -> Self:
        """Select queued rows that no worker has claimed for a while."""
        return self.filter(status=Status.QUEUED, queued_at__lt=Now() - UNCLAIMED_FOR)


class Leased(models.Model):
    """Base of models with a `status` that is `queued` before a claim and `running` after it."""

    lease_times: ClassVar[LeaseTimes]
    # Statuses in which a worker holds the row.
    held_statuses: ClassVar[Sequence[str]] = (Status.RUNNING,)
    # An expression: whether nobody may work on the row any more.
    is_withdrawn: ClassVar[Any] = Value(False)

    # Rises with every claim: the fencing token.
    attempt = models.IntegerField(default=0)
    # How many owners died with it.
    failures = models.IntegerField(default=0)
    owner = models.BigIntegerField(null=True, blank=True)
    beat_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    # When it began to wait for a worker, for the last time: created, continued, released or taken from a dead owner.
    queued_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True

    # Mutators: False if this attempt no longer holds the row

    def extend_lease(self) -> bool:
        return bool(self._as_held().update(**_extension(self.lease_times)))

    def release(self, why: str = "", **fields: Any) -> bool:
        """Return the row to the queue for another worker. why: for the history, where the model keeps one."""
        return bool(self._as_held().requeue(why, **fields))

    def take_from_dead_owner(self) -> bool:
        """Release the row and count the failure. The caller has checked `has_failures_left`."""
        return self.release("owner_dead", failures=F("failures") + 1)

    # Properties

    @property
    def has_failures_left(self) -> bool:
        """Whether the death of the present owner leaves the row another attempt."""
        return self.failures + 1 < MAX_FAILURES

    def _as_held(self) -> LeasedQuerySet[Self]:
        held: LeasedQuerySet[Self] = type(self)._default_manager.held_as(self)  # type: ignore[attr-defined]  # noqa: SLF001
        return held


def _extension(times: LeaseTimes) -> dict[str, Any]:
    return {"beat_at": Now(), "lease_until": Now() + times.lease}


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
