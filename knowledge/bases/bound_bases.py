"""The knowledge bases that a turn searches, as far as its user may see them. Reads the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from knowledge.models import File, FileStatus, KnowledgeBaseMember
from knowledge.models.knowledge_base import READING

_TEXTS = ("name", "summary", "topics", "routing_hint", "routing_keywords")


class BoundBase(NamedTuple):
    """A knowledge base that a turn may search, as its user sees it.

    role: the user's role; None: the base does not exist, or the user is not a member.
    ready, processing: numbers of documents with this status.  is_accepted: whether the user accepted the membership.
    """

    id: UUID
    role: str | None = None
    name: str = ""
    summary: str = ""
    topics: Sequence[str] = ()
    routing_hint: str = ""
    routing_keywords: Sequence[str] = ()
    ready: int = 0
    processing: int = 0
    is_accepted: bool = True


@dataclass(frozen=True)
class BoundBases:
    """The knowledge bases of one turn.

    bases: in the order of the prompt.  are_picked: whether the user picked them with the question.
    earlier: ids of the bases that the user picked only with earlier questions of the branch.
    """

    bases: Sequence[BoundBase] = ()
    are_picked: bool = False
    earlier: Sequence[UUID] = ()

    @classmethod
    def load(
        cls, user: int, picked: Sequence[UUID], standing: Iterable[UUID], earlier: Iterable[UUID] = ()
    ) -> Self:
        """Load the bases of a turn, with one query, or none if no base is bound.

        picked: bases picked with the question; if there are any, the others do not count.
        standing: bases of the session, then of its agent.
        earlier: bases picked with earlier questions of the branch; those that the user has left are omitted.
        """
        ids = list(dict.fromkeys(picked or standing))
        again = [] if picked else [pk for pk in dict.fromkeys(earlier) if pk not in ids]
        if not ids and not again:
            return cls()
        found = _load(user, [*ids, *again])
        again = [pk for pk in again if pk in found]
        bases = [found.get(pk) or BoundBase(pk) for pk in [*ids, *again]]
        return cls(bases, are_picked=bool(picked), earlier=again)

    def without_unknown(self, ids: Collection[UUID]) -> Self:
        """Leave out the bases among `ids` that the user is not a member of."""
        bases = [base for base in self.bases if base.role is not None or base.id not in ids]
        return replace(self, bases=bases)

    @property
    def searchable(self) -> list[UUID]:
        """Ids of the bases that the user is a member of, which alone may be searched."""
        return [base.id for base in self.bases if base.role is not None]

    @property
    def unknown(self) -> list[UUID]:
        return [base.id for base in self.bases if base.role is None]

    @property
    def pending(self) -> list[UUID]:
        """Ids of the bases whose membership the user has not accepted."""
        return [base.id for base in self.bases if not base.is_accepted]

    @property
    def is_restricted(self) -> bool:
        """Whether there is a base that the user is a member of without the right to read its documents."""
        return any(base.role is not None and base.role not in READING for base in self.bases)


def _load(user: int, ids: Sequence[UUID]) -> dict[UUID, BoundBase]:
    memberships = KnowledgeBaseMember.objects.filter(user=user, knowledge_base__in=ids)
    counted = memberships.annotate(
        ready=_documents(Q(status=FileStatus.READY)), processing=_documents(Q(status=FileStatus.PROCESSING))
    )
    columns = ("knowledge_base", "role", *(f"knowledge_base__{name}" for name in _TEXTS))
    rows: QuerySet[Any, tuple[Any, ...]] = counted.values_list(*columns, "ready", "processing", "is_accepted")
    return {row[0]: BoundBase(*row) for row in rows}


def _documents(condition: Q) -> Coalesce:
    """Count the documents of the membership's base that meet the condition."""
    documents = File.objects.filter(condition, knowledge_base=OuterRef("knowledge_base")).order_by()
    counts = documents.values("knowledge_base").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counts), 0, output_field=IntegerField())
