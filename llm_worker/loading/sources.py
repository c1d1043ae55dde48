"""The texts that tools of a run may search and read: the files of its session and of the session's project.

Every query names the session's owner: nothing of another user is found, whatever id a model writes.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Length, Substr

from chat.models import Session
from chat.transcript.entries import Document, Passage
from knowledge.models import File, FileKind, FileStatus
from knowledge.models.sql.chunk_search import FoundChunk
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import is_indexing
from llm_worker.tools.in_thread import query_in_thread
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
