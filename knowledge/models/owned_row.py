"""OwnedRow: a row that its owner edits and lists, latest update first. It has the columns owner and updated_at."""

from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

R = TypeVar("R", bound=models.Model)


class OwnedQuerySet(models.QuerySet[R]):
    def visible_to(self, user: Any) -> Self:
        """Filter the user's own rows; those of other users are not visible."""
        return self.filter(owner=user)

    def after(self, row: Any) -> Self:
        """Filter the rows after `row` in the order of lists."""
        older = Q(updated_at__lt=row.updated_at)
        return self.filter(older | Q(updated_at=row.updated_at, pk__lt=row.pk))


class OwnedRow(models.Model):
    class Meta:
        abstract = True

    # Mutators

    def change(self, **fields: Any) -> bool:
        """Set fields that the owner may edit, in the row and this object. False: the row was deleted."""
        fields["updated_at"] = timezone.now()
        for name, value in fields.items():
            setattr(self, name, value)
        rows: models.Manager[Any] = type(self).objects  # type: ignore[attr-defined]
        return bool(rows.filter(pk=self.pk).update(**fields))
