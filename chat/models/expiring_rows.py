"""Rows that users begin and that expire by themselves: of each user, the latest ones stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from django.db import models, transaction
from django.db.models.functions import Now

if TYPE_CHECKING:
    from datetime import timedelta

    from django.contrib.auth.models import User

M = TypeVar("M", bound=models.Model)


def begin_row(rows: models.QuerySet[M], user: User, lifetime: timedelta, limit: int, **fields: Any) -> M:
    """Create a row of the user. Deletes expired rows, and the user's oldest ones beyond `limit`."""
    rows.filter(expires_at__lte=Now()).delete()
    own = rows.filter(user=user)
    latest = own.order_by("-expires_at").values_list("pk", flat=True)[: limit - 1]
    own.exclude(pk__in=list(latest)).delete()
    # Read in the same transaction: once it is committed, the next requests of the user may delete the row.
    with transaction.atomic():
        begun = rows.create(user=user, expires_at=Now() + lifetime, **fields)
        begun.refresh_from_db(fields=["expires_at"])
    return begun
