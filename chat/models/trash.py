"""The queryset of rows that their owners delete into a trash: they have the columns deleted_at and purge_at."""

from datetime import timedelta
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models.functions import Now

M = TypeVar("M", bound=models.Model)


class TrashQuerySet(models.QuerySet[M]):
    # Mutators

    def move_to_trash(self, pk: Any, keep: timedelta) -> bool:
        """Delete a row for its owner, who can restore it for this long. False: it is gone, or in the trash already."""
        return bool(self.filter(pk=pk, deleted_at=None).update(deleted_at=Now(), purge_at=Now() + keep))

    def move_all_to_trash(self, keep: timedelta) -> int:
        """Move these rows to the trash, as move_to_trash() does; return how many were not there already."""
        return self.filter(deleted_at=None).update(deleted_at=Now(), purge_at=Now() + keep)

    def restore(self) -> int:
        """Take these out of the trash, as they were; return how many were there."""
        return self.in_trash().update(deleted_at=None, purge_at=None)

    def empty_trash(self) -> None:
        """End the time in the trash of these: nobody can restore them, and the sweeper deletes them."""
        self.in_trash().update(purge_at=Now())

    # Queries

    def in_trash(self) -> Self:
        """Select rows that their owners have deleted and can restore."""
        return self.filter(deleted_at__isnull=False, purge_at__gt=Now())

    def to_purge(self) -> Self:
        """Select rows whose time in the trash is over, the first to end first."""
        return self.filter(purge_at__lte=Now()).order_by("purge_at")
