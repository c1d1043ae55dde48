"""Documents of knowledge bases as members who read them see them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from chat.presenters.files import FileErrorAnswer, describe_file_error
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, with_members
from chat.protocol.member_types import Moment, choice, doc
from knowledge.models import Document, FileKind, FileStatus
from knowledge.search.indexing import chunks_without_vector
from knowledge.texts.reading import Reading

if TYPE_CHECKING:
    _ReadMembers = Answer
else:
    # Models are shown no pages of documents.
    _ReadMembers = with_members(Answer, Reading, without=("shown_pages",))


class DocumentAnswer(_ReadMembers):
    id: UUID
    title: Annotated[
        str, doc("As `url`, `content_type` and `size`, of the version that is found, if there is one.")
    ]
    url: Annotated[str | None, doc("Where it was read; null if it was given.")]
    status: Annotated[
        str,
        choice(
            FileStatus,
            "`ready`: its text and its vectors are found. Until then a search finds the version that was ready before.",
        ),
    ]
    error: Annotated[FileErrorAnswer | None, doc("Why it failed.")]
    kind: Annotated[str, choice(FileKind)]
    content_type: str
    size: Annotated[int, doc("Bytes of the content.")]
    token_count: Annotated[int, doc("Of the extracted text.")]
    created_at: Moment


def present_documents(documents: Sequence[Document]) -> list[JSONObject]:
    """Present documents, which have `served` joined. A document is ready when its text and its vectors are.
    One query reads the missing vectors of all documents.
    """
    ready = [one.pk for one in documents if one.status == FileStatus.READY]
    without = chunks_without_vector(Document.objects.filter(pk__in=ready)) if ready else None
    waiting = (
        set(without.order_by().values_list("file", flat=True).distinct()) if without is not None else set()
    )
    return [_present(document, is_waiting=document.pk in waiting) for document in documents]


def present_document(document: Document) -> JSONObject:
    [presented] = present_documents([document])
    return presented


def _present(document: Document, *, is_waiting: bool) -> JSONObject:
    """Present one document. is_waiting: whether it waits for vectors."""
    shown = document.shown
    return DocumentAnswer.from_row(
        document,
        document.reading,
        title=shown.name,
        url=shown.url or None,
        status=FileStatus.PROCESSING if is_waiting else document.status,
        error=describe_file_error(document) if document.status == FileStatus.FAILED else None,
        content_type=shown.content_type,
        size=shown.size_bytes,
    ).json()
