"""StoredBytes: the bytes that a user has stored, as a send reads them: the sum that the sweeper has made last."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import models

from chat.models.session import Session
from chat.models.sql import stored_bytes


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
