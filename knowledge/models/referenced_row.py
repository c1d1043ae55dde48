"""ReferencedRow: a row that other rows of its owner refer to, and that may be deleted while another one begins to."""

from typing import Any

from django.db import models, transaction


class ReferencedRow(models.Model):
    """Foreign keys are checked when the transaction ends, too late to say what is gone: who is to refer to the row holds it
    before, and a deletion locks it first. Locks of rows that are referred to come before those of rows that refer.
    """

    class Meta:
        abstract = True

    def hold(self) -> bool:
        """Until the transaction ends, the row is not deleted. False: it was deleted before."""
        return self._rows().select_for_update(no_key=True).first() is not None

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            self._rows().select_for_update().first()
            return super().delete(*args, **options)

    def _rows(self) -> models.QuerySet[Any, Any]:
        rows: models.Manager[Any] = type(self).objects  # type: ignore[attr-defined]
        return rows.filter(pk=self.pk).values_list("pk")
