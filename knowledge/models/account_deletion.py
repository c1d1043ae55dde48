"""What becomes of knowledge bases and documents when the accounts are deleted that they count for: `on_delete` of `owner`.

A base with another owner who has accepted that stays: the trigger knowledge_pass_on_bases gives it to the longest-standing of
them, with its documents, in the transaction of the deletion (decision 0115). A base without one is deleted with the account.
"""

from typing import Any

from django.apps import apps
from django.db.models import CASCADE, Exists, OuterRef, QuerySet
from django.db.models.deletion import Collector


def cascade_without_another_owner(collector: Collector, field: Any, bases: QuerySet[Any], using: str) -> None:
    """Delete those of `bases` whose heirs are all among the accounts that are deleted together."""
    account = field.remote_field.model
    accounts = [
        one.pk for model, rows in collector.data.items() if issubclass(model, account) for one in rows
    ]
    members: Any = apps.get_model("knowledge", "KnowledgeBaseMember").objects
    others = members.heirs().filter(knowledge_base=OuterRef("pk")).exclude(user__in=accounts)
    _cascade(collector, field, bases.exclude(Exists(others)), using)


def cascade_unless_document(collector: Collector, field: Any, files: QuerySet[Any], using: str) -> None:
    """Delete `files` of the account itself; a document is deleted with its base."""
    _cascade(collector, field, files.filter(knowledge_base__isnull=True), using)


def _cascade(collector: Collector, field: Any, rows: QuerySet[Any], using: str) -> None:
    if rows:
        CASCADE(collector, field, rows, using)
