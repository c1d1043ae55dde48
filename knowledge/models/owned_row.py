"""Rows that have an owner: base classes of those that are edited, listed and referred to, and their fate with the account.

A knowledge base stays if another owner has accepted that it may count for them. The trigger knowledge_pass_on_bases gives it to
the longest-standing of these, with its documents, in the transaction of the deletion (decision 0115). Other bases are
deleted with the account.
"""

from typing import Any, Self, TypeVar

from django.apps import apps
from django.db import models, transaction
from django.db.models import CASCADE, Exists, OuterRef, Q, QuerySet
from django.db.models.deletion import Collector
from django.utils import timezone


def cascade_without_another_owner(collector: Collector, field: Any, bases: QuerySet[Any], using: str) -> None:
    """Delete the bases that have no heir except the accounts that are deleted together."""
    account = field.remote_field.model
    accounts = [
        one.pk for model, rows in collector.data.items() if issubclass(model, account) for one in rows
    ]
    members: Any = apps.get_model("knowledge", "KnowledgeBaseMember").objects
    others = members.heirs().filter(knowledge_base=OuterRef("pk")).exclude(user__in=accounts)
    _cascade(collector, field, bases.exclude(Exists(others)), using)


def cascade_unless_document(collector: Collector, field: Any, files: QuerySet[Any], using: str) -> None:
    """Delete the account's own files. Documents are not included: they are deleted with their base."""
    _cascade(collector, field, files.filter(knowledge_base__isnull=True), using)


def _cascade(collector: Collector, field: Any, rows: QuerySet[Any], using: str) -> None:
    if rows:
        CASCADE(collector, field, rows, using)


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
