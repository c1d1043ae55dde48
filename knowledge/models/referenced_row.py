"""ReferencedRow: a row that other rows of its owner refer to, safe against deletion while a reference is added."""

from typing import Any

from django.db import models, transaction


class ReferencedRow(models.Model):
    """A row that is locked before a reference to it is added, and before it is deleted.

    Foreign keys are checked at the end of the transaction, too late to report which row is missing.
    Locks of referenced rows come before those of referring rows.
    """

    class Meta:
        abstract = True

    def hold(self) -> bool:
        """Lock the row against deletion until the transaction ends. False: it was deleted before."""
        return self._rows().select_for_update(no_key=True).first() is not None

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            self._rows().select_for_update().first()
            return super().delete(*args, **options)

    def _rows(self) -> models.QuerySet[Any, Any]:
        rows: models.Manager[Any] = type(self).objects  # type: ignore[attr-defined]
        return rows.filter(pk=self.pk).values_list("pk")
