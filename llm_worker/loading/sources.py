"""The texts that tools of a run may search and read: the files of its session and of the session's project.

Every query names the session's owner: nothing of another user is found, whatever id a model writes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Length, Substr

from chat.infrastructure.threads import with_connection
from chat.models import Session
from chat.transcript.entries import Document
from knowledge.models import File, FileKind, FileStatus
from knowledge.search import search_project
from llm_worker.tools.in_thread import run_in_thread
from llm_worker.tools.tool import NoSources, Sources, ToolFailed

# Passages of one search.
LIMIT: Final = 8
# No text has as many, and Postgres counts characters up to twice as many.
MOST_CHARACTERS: Final = 2**30
NO_FILE: Final = "There is no such file in this chat."

Result = TypeVar("Result")


class SessionSources:
    """The Sources of a session. In threads that are abandoned on a stop: the first search stores passages."""

    def __init__(self, session: UUID, owner: int, project: UUID | None) -> None:
        self._session, self._owner, self._project = session, owner, project

    @classmethod
    def of(cls, session: Session) -> Sources:
        return cls(session.pk, session.owner_id, session.project_id)

    async def search_project(self, query: str) -> Sequence[Document]:
        project = self._project
        if project is None:
            return await NoSources().search_project(query)
        found = await _in_thread(lambda: search_project(project, self._owner, query, LIMIT))
        return [
            Document(
                number=0,
                document_id=str(passage.file),
                title=passage.name,
                contents=passage.text,
                metadata={"file": str(passage.file), "start": str(passage.start)},
            )
            for passage in found
        ]

    async def read_file(self, file: str, start: int, length: int) -> Document:
        return await _in_thread(lambda: self._read(file, start, length))

    def _read(self, file: str, start: int, length: int) -> Document:
        try:
            pk = UUID(file)
        except ValueError:
            raise ToolFailed(f"{NO_FILE} Give the id of one.") from None
        attached = Q(messages__message__session=self._session)
        readable = File.objects.filter(attached | Q(project=self._project, project__isnull=False), pk=pk)
        readable = readable.filter(owner=self._owner, status=FileStatus.READY).exclude(kind=FileKind.IMAGE)
        part = Substr(F("text"), min(start, MOST_CHARACTERS) + 1, length)
        row = readable.annotate(total=Length("text"), part=part).values_list("name", "total", "part").first()
        if row is None:
            raise ToolFailed(NO_FILE)
        name, total, contents = row
        if start >= total:
            raise ToolFailed(f"The file has {total} characters; none begins at {start}.")
        place = {"file": str(pk), "start": str(start), "end": str(start + len(contents)), "total": str(total)}
        return Document(0, str(pk), name, contents, metadata=place)


async def _in_thread(work: Callable[[], Result]) -> Result:
    return await run_in_thread(partial(with_connection, work))
