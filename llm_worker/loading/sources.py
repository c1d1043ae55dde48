"""The texts that tools of a run may search and read: files of its session and project, and knowledge bases.

Every query names the session's owner: nothing of another user is found, whatever id a model writes.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Length, Substr

from chat.models import Run, Session
from chat.models.run_fields import KnowledgeAccess
from chat.transcript.entries import Document, Passage
from chat.transcript.tokens import count_tokens
from knowledge.bases import HEADING, NOTE, BoundBases, clean_name, render_bases
from knowledge.models import Chunk, File, FileKind, FileStatus, KnowledgeBase, KnowledgeBaseMember, MemberRole
from knowledge.models.knowledge_base import READING
from knowledge.models.sql.chunk_search import FoundChunk
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import is_indexing, searchable
from llm_worker.side_requests.artifact import MOST_EXCERPTS, Artifact, Excerpt, fits_whole
from llm_worker.side_requests.safe_summary import Found, SafeSummaries
from llm_worker.side_requests.withheld import LoopTexts, Readers, withhold
from llm_worker.tools.in_thread import query_in_thread
from llm_worker.tools.knowledge_base_search.tool import KnowledgeBaseSearch
from llm_worker.tools.research_agent.tool import ResearchAgent
from llm_worker.tools.tool import ToolFailed

# No text is as long, and Postgres can count up to twice as many characters.
MOST_CHARACTERS: Final = 2**30
NO_FILE: Final = "There is no such file in this chat."
BEING_READ: Final = "The text of this file is still being extracted. Try again later."


class SessionSources:
    """The Sources of a session. Queries run in threads that are abandoned on a stop: the first search stores chunks."""

    def __init__(self, session: Session) -> None:
        self._session, self._owner, self._project = session.pk, session.owner_id, session.project_id

    async def search_project(self, query: str) -> Sequence[Document]:
        if self._project is None:
            return ()
        found = await query_in_thread(lambda: search_files(self._project_files, query, LIMIT))
        return [as_document(chunk, file=str(chunk.file)) for chunk in found]

    async def is_indexing(self) -> bool:
        return self._project is not None and await query_in_thread(lambda: is_indexing(self._project_files))

    @property
    def _project_files(self) -> QuerySet[File]:
        return File.objects.filter(project=self._project, owner=self._owner)

    async def read_file(self, file: str, start: int, length: int) -> Document:
        return await query_in_thread(lambda: self._read(file, start, length))

    def _read(self, file: str, start: int, length: int) -> Document:
        try:
            pk = UUID(file)
        except ValueError:
            raise ToolFailed(f"{NO_FILE} Give the id of one.") from None
        attached = Q(messages__message__session=self._session)
        own = File.objects.visible_to(self._owner).exclude(status=FileStatus.FAILED)
        readable = own.filter(attached | Q(project=self._project, project__isnull=False), pk=pk)
        part = Substr(F("text"), min(start, MOST_CHARACTERS) + 1, length)
        rows = readable.exclude(kind=FileKind.IMAGE).annotate(total=Length("text"), part=part)
        row = rows.values_list("status", "name", "total", "part").first()
        if row is None:
            raise ToolFailed(NO_FILE)
        status, name, total, contents = row
        # A text that is extracted again stays until the new one replaces it.
        if status == FileStatus.PROCESSING and not total:
            raise ToolFailed(BEING_READ)
        if start >= total:
            raise ToolFailed(f"The file has {total} characters; none begins at {start}.")
        place = {"file": str(pk), "start": str(start), "end": str(start + len(contents)), "total": str(total)}
        return Document(0, str(pk), name, contents, metadata=place)


# The maximum number of passages of one search.
LIMIT: Final = 8


def as_document(chunk: FoundChunk, **metadata: str) -> Document:
    """Convert a chunk to a document. metadata: shown to the model besides the start of the passage."""
    return Document(
        number=0,
        document_id=str(chunk.file),
        title=chunk.name,
        contents=chunk.text,
        url=chunk.url,
        metadata={**metadata, "start": str(chunk.start)},
        passage=Passage(chunk.start, len(chunk.text)),
        knowledge_base=str(chunk.knowledge_base or ""),
    )


# No text has more, so chunks that cannot fit even at this ratio are not tokenised.
MOST_CHARACTERS_PER_TOKEN: Final = 8
READERS: Final = Readers(searches={KnowledgeBaseSearch.name}, reports={ResearchAgent.name})


class RunKnowledge:
    """The Knowledge of a run. Its queries run in threads that are abandoned on a stop."""

    def __init__(self, run: Run, summaries: SafeSummaries) -> None:
        """Use only the bases of the run. A run that was restricted when its turn started stays restricted."""
        self._run, self._summaries = run, summaries
        self._user, self._bases = run.turn.session.owner_id, list(run.knowledge_bases)
        self._is_restricted = run.is_restricted

    async def is_restricted(self) -> bool:
        """Return whether the run is restricted: since its turn started, or by the current role in any of its bases.

        Nothing else decides it.
        """
        if not self._is_restricted and self._bases:
            await query_in_thread(self._read_roles)
        return self._is_restricted

    async def search(self, query: str, base: str) -> Sequence[Document]:
        return await query_in_thread(lambda: self._search(query, base))

    async def is_indexing(self) -> bool:
        if self._is_restricted:
            return False
        return await query_in_thread(lambda: is_indexing(self._documents(self._bases)))

    async def summarise(self, queries: Sequence[str], base: str) -> Artifact:
        async def retrieve(free_tokens: int) -> Found:
            return await query_in_thread(lambda: self._retrieve(queries, base, free_tokens))

        return await self._summaries.summarise("\n".join(queries), retrieve)

    async def withhold(self, material: LoopTexts) -> LoopTexts:
        if not self._bases or await query_in_thread(self._may_see_all):
            return material
        context = await query_in_thread(lambda: self._current_context(material.dynamic_context))
        return withhold(material, READERS, context)

    def _read_roles(self) -> Mapping[UUID, MemberRole]:
        """Return the roles in bases of which the user is still a member. A role that may not read restricts the run."""
        roles = KnowledgeBaseMember.objects.roles_of(self._user, self._bases)
        if not self._is_restricted and any(role not in READING for role in roles.values()):
            self._is_restricted = True
            # Stored for other attempts, and for anyone who asks for the reason.
            Run.objects.filter(pk=self._run.pk).update(knowledge_access=KnowledgeAccess.RESTRICTED)
        return roles

    def _may_see_all(self) -> bool:
        roles = self._read_roles()
        return not self._is_restricted and roles.keys() >= set(self._bases)

    def _current_context(self, context: str) -> str:
        """Replace the section on the bases in a dynamic context built with full access by the one allowed now."""
        if not (context.startswith(HEADING) and NOTE in context):
            return context
        bases = BoundBases.load(self._user, (), self._bases)
        return "\n\n".join(filter(None, [render_bases(bases), context.rpartition(NOTE)[2].strip()]))

    def _retrieve(self, queries: Sequence[str], base: str, free_tokens: int) -> Found:
        """Retrieve excerpts for a secondary model: the search results, then all other chunks if they are few.

        Without results, the first chunks are returned, so that no answer tells which words the bases contain. Only
        bases without text yield nothing.
        """
        every = self._names()
        names = {pk: every[pk] for pk in _named_bases(base, every)}
        visible = KnowledgeBase.objects.visible_to(self._user).filter(pk__in=list(names))
        documents = File.objects.filter(knowledge_base__in=visible.values("pk"))
        found = [search_files(documents, query, MOST_EXCERPTS) for query in queries]
        ranked = chain.from_iterable(zip_longest(*found))
        excerpts = [_excerpt(chunk.file, chunk.start, chunk.text) for chunk in ranked if chunk]
        named = [(str(pk), name) for pk, name in names.items()]
        excerpts += _all_if_few(documents, free_tokens)
        return Found(named, excerpts or _beginnings(documents))

    def _search(self, query: str, base: str) -> list[Document]:
        if self._is_restricted:
            return []
        names = self._names()
        bases = _named_bases(base, names)
        if not bases:
            return []
        found = search_files(self._documents(bases), query, LIMIT)
        return [as_document(chunk, knowledge_base=_name_of(chunk.knowledge_base, names)) for chunk in found]

    def _names(self) -> dict[UUID, str]:
        found = KnowledgeBase.objects.filter(pk__in=self._bases).values_list("pk", "name")
        return {pk: clean_name(name) for pk, name in found}

    def _documents(self, bases: Sequence[UUID]) -> QuerySet[File]:
        """Return documents of bases that the user may read when the statement with this query runs."""
        searchable = KnowledgeBase.objects.searchable_by(self._user, self._bases).filter(pk__in=bases)
        return File.objects.filter(knowledge_base__in=searchable.values("pk"))


def _named_bases(wanted: str, names: Mapping[UUID, str]) -> list[UUID]:
    """Return the bases that a model names, by id or name; all if it names none.

    A text in the form of an id is not taken for a name: the name of a base may be the id of another.
    """
    folded = wanted.strip().casefold()
    try:
        return [pk for pk in names if pk == UUID(folded)]
    except ValueError:
        return [pk for pk, name in names.items() if folded in ("", name.casefold())]


def _name_of(base: UUID | None, names: dict[UUID, str]) -> str:
    return names.get(base, "") if base else ""


def _all_if_few(documents: QuerySet[File], free_tokens: int) -> list[Excerpt]:
    chunks = _in_order(documents)
    characters = chunks.aggregate(sum=Sum(Length("text")))["sum"] or 0
    if not fits_whole(characters // MOST_CHARACTERS_PER_TOKEN, free_tokens):
        return []
    excerpts = _excerpts(chunks)
    tokens = sum(count_tokens(excerpt.text) for excerpt in excerpts)
    return excerpts if fits_whole(tokens, free_tokens) else []


def _beginnings(documents: QuerySet[File]) -> list[Excerpt]:
    return _excerpts(_in_order(documents)[:MOST_EXCERPTS])


def _in_order(documents: QuerySet[File]) -> QuerySet[Chunk]:
    """Return all chunks that searches can find, in the order of files and positions."""
    return Chunk.objects.found_in(searchable(documents)).order_by("file__created_at", "file", "position")


def _excerpts(chunks: QuerySet[Chunk]) -> list[Excerpt]:
    return [_excerpt(*row) for row in chunks.values_list("file", "start", "text")]


def _excerpt(file: UUID, start: int, text: str) -> Excerpt:
    return Excerpt(f"{file}:{start}", text)
