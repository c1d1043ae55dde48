"""TokenScope: what an API token may do, and its name. A token without a row may do everything its user may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import models, transaction
from knox.models import AuthToken

MAX_NAME: Final = 100


class Scope(models.TextChoices):
    READ = "read", "read"
    WRITE = "write", "write"


class TokenScopeQuerySet(models.QuerySet["TokenScope"]):
    # Factories

    def create_token(
        self,
        user: User,
        scope: Scope = Scope.WRITE,
        *,
        name: str = "",
        expires_in_days: int | None = None,
    ) -> tuple[Any, str]:
        """Create an API token, which is valid without end by default; return its row and its text, stored nowhere."""
        expiry = None if expires_in_days is None else timedelta(days=expires_in_days)
        with transaction.atomic():
            row, text = AuthToken.objects.create(user, expiry=expiry)
            if name or scope != Scope.WRITE:
                self.create(token=row, scope=scope, name=name)
        return row, text

    # Queries

    def of_token(self, token: Any) -> Scope:
        scope = self.filter(token=token).values_list("scope", flat=True).first()
        return Scope(scope) if scope else Scope.WRITE


class TokenScope(models.Model):
    token = models.OneToOneField(
        "knox.AuthToken", on_delete=models.CASCADE, primary_key=True, related_name="scope_row"
    )
    scope = models.CharField(max_length=10, choices=Scope.choices)
    # What its user calls it.
    name = models.CharField(max_length=MAX_NAME, blank=True, default="", db_default="")

    objects = TokenScopeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=Scope.values), name="token_scope_known")
        ]

    def __str__(self) -> str:
        return self.scope
