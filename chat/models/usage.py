"""DailyUse and StoredBytes: the use of one user on one day, and the bytes stored; with their limits (decision 0088).

DefaultLimits and GroupLimits: what staff allow.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import models
from django.db.models import Q

from chat.models.session import Session
from chat.models.sql import usage as stored_bytes
from chat.models.sql.usage import ADD_PENDING, ADD_USE, COUNT_RUNS, READ_ACCOUNT, DailyAccountRow
from chat.protocol.answer import LimitUse
from chat.transcript.usage import TokenUsage

RUNS: Final = "runs_per_day"
TOKENS: Final = "tokens_per_day"
COST: Final = "cost_per_day"


class DailyAccount(NamedTuple):
    """The use of one user today (UTC), beside its limits. runs: those started.  tokens, cost: used so far, those of
    runs in progress included as far as they are known."""

    runs: LimitUse
    tokens: LimitUse
    cost: LimitUse

    @classmethod
    def from_row(cls, row: DailyAccountRow) -> DailyAccount:
        limits = (row.most_runs, row.most_tokens, row.most_cost)
        runs, tokens, cost = (None if row.is_superuser else limit or None for limit in limits)
        return cls(
            LimitUse(RUNS, row.runs, runs, "runs", row.resets_at),
            LimitUse(TOKENS, row.tokens, tokens, "tokens", row.resets_at, row.is_estimated),
            LimitUse(COST, row.cost, cost, "cost", row.resets_at, row.is_estimated),
        )

    @classmethod
    def read(cls, user_id: int) -> DailyAccount | None:
        """Read the account of a user; None if the user is gone."""
        row = READ_ACCOUNT.first(owner=user_id)
        return cls.from_row(row) if row else None

    @property
    def most_runs(self) -> int | None:
        return None if self.runs.max is None else int(self.runs.max)

    def reached(self, new_runs: int) -> LimitUse | None:
        """Return the first limit that forbids so many more runs; None if no limit does."""
        if self.runs.max is not None and self.runs.used + new_runs > self.runs.max:
            return self.runs
        spent = (self.tokens, self.cost)
        return next((one for one in spent if one.max is not None and one.used >= one.max), None)


class DailyUseQuerySet(models.QuerySet["DailyUse"]):
    # Mutators

    def count_run(self, session_id: UUID, account: DailyAccount, token: UUID | None) -> bool:
        """Count one run of the session's owner, and of the API token. False: the limit was reached meanwhile."""
        counted = COUNT_RUNS.first(session=session_id, new_runs=1, most_runs=account.most_runs, token=token)
        return counted is not None

    def add(self, session_id: UUID, run_id: UUID | None, usage: TokenUsage, cost: Decimal | None) -> None:
        """Add the use of a request beside the runs. run_id: of the run that needed it, if one did."""
        tokens = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        if tokens or cost:
            is_estimated = bool(usage.estimated_tokens)
            ADD_USE.first(
                session=session_id, run=run_id, tokens=tokens, cost=cost or 0, is_estimated=is_estimated
            )

    def add_pending(self) -> None:
        """Add to its days what waits in PendingUse, but for days that are locked."""
        ADD_PENDING.all()


class DailyUse(models.Model):
    """Written by the statements that start runs and store what they use; kept for the admin."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()  # UTC
    runs = models.IntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=9, default=0)
    is_estimated = models.BooleanField(
        default=False, db_default=False, help_text="Tokens that no server reported are counted too."
    )

    objects = DailyUseQuerySet.as_manager()

    class Meta:
        verbose_name = "use of a day"
        verbose_name_plural = "use by day"
        ordering = ("-day", "user")
        constraints = [
            models.UniqueConstraint(fields=["user", "day"], name="one_daily_use_per_user_and_day"),
            models.CheckConstraint(
                condition=Q(runs__gte=0, tokens__gte=0, cost__gte=0), name="daily_use_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} on {self.day}"


class PendingUse(models.Model):
    """Use that the sweeper adds to its day: another statement had locked the row of the day."""

    # Without a constraint: the version before deletes users, and knows no such rows.
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    day = models.DateField()
    runs = models.IntegerField()
    tokens = models.BigIntegerField()
    cost = models.DecimalField(max_digits=18, decimal_places=9)
    is_estimated = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.user_id} on {self.day}"


_NOT_NEGATIVE = (
    (Q(runs_per_day__isnull=True) | Q(runs_per_day__gte=0))
    & (Q(tokens_per_day__isnull=True) | Q(tokens_per_day__gte=0))
    & (Q(cost_per_day__isnull=True) | Q(cost_per_day__gte=0))
)
_WORDS = "Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts."
_DEFAULT_WORDS = (
    "Per user and day (UTC), unless a group of the user sets another limit. Empty or 0: no limit."
)


class DefaultLimits(models.Model):
    """The daily limits of everybody whose groups set none. Without a row there are none."""

    # The constant 1, so that there is at most one row.
    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    runs_per_day = models.BigIntegerField(null=True, blank=True, help_text=_DEFAULT_WORDS)
    tokens_per_day = models.BigIntegerField(null=True, blank=True, help_text=_DEFAULT_WORDS)
    cost_per_day = models.DecimalField(
        max_digits=18, decimal_places=6, null=True, blank=True, help_text=_DEFAULT_WORDS
    )

    class Meta:
        verbose_name = verbose_name_plural = "default limits"
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="one_row_of_default_limits"),
            models.CheckConstraint(condition=_NOT_NEGATIVE, name="default_limits_not_negative"),
        ]

    def __str__(self) -> str:
        return "default limits"


class GroupLimits(models.Model):
    group = models.OneToOneField(Group, primary_key=True, on_delete=models.CASCADE, related_name="limits")
    runs_per_day = models.BigIntegerField(null=True, blank=True, help_text=_WORDS)
    tokens_per_day = models.BigIntegerField(null=True, blank=True, help_text=_WORDS)
    cost_per_day = models.DecimalField(
        max_digits=18, decimal_places=6, null=True, blank=True, help_text=_WORDS
    )

    class Meta:
        verbose_name = "limits of a group"
        verbose_name_plural = "limits of groups"
        constraints = [models.CheckConstraint(condition=_NOT_NEGATIVE, name="group_limits_not_negative")]

    def __str__(self) -> str:
        return f"limits of {self.group}"


class StoredBytesQuerySet(models.QuerySet["StoredBytes"]):
    # Mutators

    def measure(self, session_id: UUID) -> int | None:
        """Measure one session; returns its owner. None: it is gone, or had an event meanwhile and stays unmeasured."""
        row = stored_bytes.MEASURE.first(session=session_id)
        return row and row.owner_id

    def refresh(self, user_id: int) -> None:
        """Store the sum of the measured bytes. Of two sums made side by side, the later may be lost until the next."""
        self.update_or_create(user_id=user_id, defaults={"total": self.sum_of(user_id)})

    # Queries

    def unmeasured(self, most: int) -> list[UUID]:
        """Return at most `most` sessions that have had an event since they were measured."""
        return list(Session.with_trash.filter(is_measured=False).values_list("pk", flat=True)[:most])

    def sum_of(self, user_id: int) -> int:
        """Sum the bytes of all sessions and files of the user now, as far as they are measured."""
        row = stored_bytes.SUM.first(user=user_id)
        return row.total if row else 0

    def sum_of_base(self, base_id: UUID) -> int:
        """Sum the bytes of all documents of a knowledge base now."""
        row = stored_bytes.SUM_OF_BASE.first(base=base_id)
        return row.total if row else 0


class StoredBytes(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="stored_bytes"
    )
    total = models.BigIntegerField(default=0, db_default=0)

    objects = StoredBytesQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.total} bytes of user {self.user_id}"
