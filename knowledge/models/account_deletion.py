"""Values of `on_delete` for `owner`: the fate of knowledge bases and documents when their owner's account is deleted.

A base stays if another owner has accepted that it may count for them. The trigger knowledge_pass_on_bases gives it to
the longest-standing of these, with its documents, in the transaction of the deletion (decision 0115). Other bases are
deleted with the account.
"""

from typing import Any

from django.apps import apps
from django.db.models import CASCADE, Exists, OuterRef, QuerySet
from django.db.models.deletion import Collector


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
