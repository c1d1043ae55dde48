"""TokenScope: what an API token may do, and how much of it. A token without a row may do everything its user may.

TokenUse: what the answers have used that were asked for with a token.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Q, Sum
from django.utils import timezone
from knox.models import AuthToken

from chat.models.agent import Agent
from chat.models.sql import token_use
from chat.protocol.answer import LimitUse

MAX_NAME: Final = 100
# The beginning of the stored digest, as long as a UUID, identifies a token.
ID_CHARACTERS: Final = 32
# A use is noted if the noted one is older, so that few requests write.
NOTED_EVERY: Final = timedelta(minutes=5)


class Scope(models.TextChoices):
    """CHAT: /agui and the routes below /v1/ alone.  AGENT: of these, what asks one agent, and its answers."""

    READ = "read", "read"
    WRITE = "write", "write"
    CHAT = "chat", "chat"
    AGENT = "agent", "agent"


class TokenScopeQuerySet(models.QuerySet["TokenScope"]):
    # Factories

    def create_token(
        self, user: User, scope: Scope = Scope.WRITE, *, expires_in_days: int | None = None, **columns: Any
    ) -> tuple[Any, str]:
        """Create an API token, which is valid without end by default; return its row and its text, stored nowhere.

        columns: of TokenScope, what they are by default if they are left out.
        """
        expiry = None if expires_in_days is None else timedelta(days=expires_in_days)
        with transaction.atomic():
            row, text = AuthToken.objects.create(user, expiry=expiry)
            self.create(token=row, scope=scope, **columns)
        return row, text

    # Mutators

    def note_use(self, digest: str, last_used_at: datetime | None) -> None:
        """Note that the token is used now, unless a use within NOTED_EVERY is noted. last_used_at: what is noted, if known."""
        if last_used_at is None or last_used_at < timezone.now() - NOTED_EVERY:
            token_use.NOTE.first(digest=digest, before=timezone.now() - NOTED_EVERY)


class TokenScope(models.Model):
    token = models.OneToOneField(
        "knox.AuthToken", on_delete=models.CASCADE, primary_key=True, related_name="scope_row"
    )
    scope = models.CharField(max_length=10, choices=Scope.choices)
    # What its user calls it.
    name = models.CharField(max_length=MAX_NAME, blank=True, default="", db_default="")
    # Without a constraint: the version before deletes agents, and knows no such column. What remains names no agent.
    agent = models.ForeignKey(
        Agent,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    # Of the answers that are asked for with it (UTC); None: no limit.
    tokens_per_day = models.BigIntegerField(null=True, blank=True)
    cost_per_day = models.DecimalField(max_digits=18, decimal_places=6, null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = TokenScopeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(scope__in=Scope.values), name="token_scope_known"),
            models.CheckConstraint(
                condition=Q(agent=None) | Q(scope=Scope.AGENT), name="token_for_an_agent_has_its_scope"
            ),
            models.CheckConstraint(
                condition=(Q(tokens_per_day=None) | Q(tokens_per_day__gt=0))
                & (Q(cost_per_day=None) | Q(cost_per_day__gt=0)),
                name="token_limits_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.scope


def scope_of(token: Any) -> TokenScope:
    """Return the row of the token, `scope_row`; of one without a row, what that means."""
    return getattr(token, "scope_row", None) or TokenScope(token=token, scope=Scope.WRITE)


def token_id(digest: str) -> UUID:
    """Return the id by which the user of a token knows it."""
    return UUID(digest[:ID_CHARACTERS])


class TokenUseQuerySet(models.QuerySet["TokenUse"]):
    # Mutators

    def compact(self) -> int:
        """Make one row of those of a token and day, and delete those of tokens that are gone; return how many went."""
        token_use.COMPACT.all()
        return len(token_use.PURGE.all())

    # Queries

    def reached(self, token: UUID) -> LimitUse | None:
        """Return the limit of the token that forbids another run today; None if no limit does."""
        used = token_use.READ_LIMITED.first(token=token)
        if used is None:
            return None
        limits = (
            LimitUse("token_tokens_per_day", used.tokens, used.most_tokens, "tokens", used.resets_at),
            LimitUse("token_cost_per_day", used.cost, used.most_cost, "cost", used.resets_at),
        )
        return next((limit for limit in limits if limit.max is not None and limit.used >= limit.max), None)

    def by_day(self, user: User, since: date, until: date) -> Any:
        """Sum the use of the user's tokens on these days, oldest day first, as `used_` runs, tokens and cost."""
        tokens = [token_id(row.digest) for row in AuthToken.objects.filter(user=user)]
        days = self.filter(day__gte=since, day__lte=until, token__in=tokens).values("day", "token")
        sums = {f"used_{name}": Sum(name) for name in ("runs", "tokens", "cost")}
        return days.annotate(**sums).order_by("day", "token")


class TokenUse(models.Model):
    """Rows are only added, so that answers of one token do not wait for each other; the sweeper sums those of a day."""

    # That of `token_id`. Without a constraint: an answer is stored although its token was deleted meanwhile.
    token = models.UUIDField()
    day = models.DateField()  # UTC
    runs = models.IntegerField()
    tokens = models.BigIntegerField()
    cost = models.DecimalField(max_digits=18, decimal_places=9)

    objects = TokenUseQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["token", "day"], name="use_by_token_and_day")]

    def __str__(self) -> str:
        return f"{self.token} on {self.day}"
