"""The documents of knowledge bases that the tools of a run may search, by what the roles of its user allow at each call."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from chat.infrastructure.threads import with_connection
from chat.models import Run
from chat.transcript.entries import Document
from knowledge.indexing import is_indexing
from knowledge.metadata_block import clean_name
from knowledge.models import File, KnowledgeBase, KnowledgeBaseMember
from knowledge.models.knowledge_base import READING
from knowledge.search import search_files
from llm_worker.tools.in_thread import run_in_thread

# Passages of one search.
LIMIT: Final = 8

Result = TypeVar("Result")


class RunKnowledge:
    """The Knowledge of a run. In threads that are abandoned on a stop."""

    def __init__(self, user: int, bases: Sequence[UUID], *, is_restricted: bool) -> None:
        """bases: that the run searches, and no other.  is_restricted: as decided when its turn started."""
        self._user, self._bases, self._is_restricted = user, list(bases), is_restricted

    @classmethod
    def of(cls, run: Run) -> "RunKnowledge":
        return cls(run.turn.session.owner_id, run.knowledge_bases, is_restricted=run.is_restricted)

    async def is_restricted(self) -> bool:
        """The one place that decides it: when the turn started, or by the role in any base of the run as it is now."""
        return self._is_restricted or await _in_thread(self._is_barred)

    async def search(self, query: str, base: str) -> Sequence[Document]:
        return await _in_thread(lambda: self._search(query, base))

    async def is_indexing(self) -> bool:
        if self._is_restricted:
            return False
        return await _in_thread(lambda: is_indexing(self._documents(self._bases)))

    def _is_barred(self) -> bool:
        roles = KnowledgeBaseMember.objects.roles_of(self._user, self._bases)
        return any(role not in READING for role in roles.values())

    def _search(self, query: str, base: str) -> list[Document]:
        if self._is_restricted:
            return []
        names = self._names()
        bases = [pk for pk, name in names.items() if _is_named(base, pk, name)]
        if not bases:
            return []
        return [
            Document(
                number=0,
                document_id=str(chunk.file),
                title=chunk.name,
                contents=chunk.text,
                url=chunk.url,
                metadata={"knowledge_base": _name_of(chunk.knowledge_base, names), "start": str(chunk.start)},
            )
            for chunk in search_files(self._documents(bases), query, LIMIT)
        ]

    def _names(self) -> dict[UUID, str]:
        found = KnowledgeBase.objects.filter(pk__in=self._bases).values_list("pk", "name")
        return {pk: clean_name(name) for pk, name in found}

    def _documents(self, bases: Sequence[UUID]) -> QuerySet[File]:
        """Those of bases that the user may read at the time of the statement that this becomes a part of."""
        searchable = KnowledgeBase.objects.searchable_by(self._user, self._bases).filter(pk__in=bases)
        return File.objects.filter(knowledge_base__in=searchable.values("pk"))


def _is_named(wanted: str, pk: UUID, name: str) -> bool:
    """Whether a model means this base. Empty: all are meant."""
    folded = wanted.strip().casefold()
    return folded in ("", str(pk), name.casefold())


def _name_of(base: UUID | None, names: dict[UUID, str]) -> str:
    return names.get(base, "") if base else ""


async def _in_thread(work: Callable[[], Result]) -> Result:
    return await run_in_thread(partial(with_connection, work))
