"""Routes of the documents of a knowledge base. Readers read; editors and owners write; restricted members find none."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from msgspec import UNSET, Meta, UnsetType
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.files import FileErrorAnswer, describe_file_error
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc, with_members
from chat.protocol.body import Body, Visible, patched
from chat.protocol.errors import ApiError
from features.knowledge_bases import documents
from features.knowledge_bases.documents import DocumentSource, read_source, store_source
from features.knowledge_bases.members import get_editable_base, get_readable_base
from knowledge.fetching.target import MAX_URL_CHARACTERS
from knowledge.files import blobs
from knowledge.files.file_types import MAX_CHARACTERS
from knowledge.models import Document, FileKind, FileStatus, KnowledgeBase
from knowledge.search.indexing import chunks_without_vector
from knowledge.texts.reading import Reading
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.file_responses import PART, check_read, content_response, text_response
from web.rest.openapi import documented
from web.rest.pagination import PAGE_PARAMETERS, NewestUploadPagination, Page
from web.rest.request_slots import EXPENSIVE, LONG_BODIES, UserSlots
from web.rest.uploads import FileFormParser, FormFile, StrictJSONParser, UploadedContent

# The limit of the ingest process (ingest/reader/reading_outcome.py); the body itself has a limit in bytes.
MAX_TEXT_CHARACTERS: Final = 5_000_000
_SOURCES: Final = ("text", "file", "url")
# JSON Schemas of what a document is not made of: two sources, or none.
_REFUSED: Final[Sequence[Mapping[str, Any]]] = (
    *({"required": pair} for pair in combinations(_SOURCES, 2)),
    {"not": {"anyOf": [{"required": [name]} for name in _SOURCES]}},
)

_Title = Annotated[Visible, Meta(max_length=MAX_CHARACTERS)]


class DocumentBody(Body):
    """One of `text`, `file` (the id of an own upload, which is copied) and `url`."""

    keywords: ClassVar[Mapping[str, Any]] = {"not": {"anyOf": _REFUSED}}
    needs_body = True

    title: _Title | UnsetType = UNSET
    text: (
        Annotated[Visible, Meta(max_length=MAX_TEXT_CHARACTERS), doc("Plain text or Markdown.")] | UnsetType
    ) = UNSET
    file: UUID | UnsetType = UNSET
    url: (
        Annotated[
            Visible,
            Meta(max_length=MAX_URL_CHARACTERS),
            doc("Read afterwards, like a file: what does not work is the document's error."),
        ]
        | UnsetType
    ) = UNSET

    def __post_init__(self) -> None:
        sources = [name for name in _SOURCES if getattr(self, name) is not UNSET]
        if len(sources) > 1:
            raise ApiError("invalid_value", field=sources[1])
        if not sources:
            raise ApiError("field_required", field="text")


class NewDocumentBody(DocumentBody):
    """A new document, in which a text needs a title."""

    keywords = {"not": {"anyOf": [*_REFUSED, {"required": ["text"], "not": {"required": ["title"]}}]}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text and not self.title:
            raise ApiError("field_required", field="title")


class DocumentForm(Body):
    """The description of the form that FileFormParser reads."""

    file: FormFile
    title: Annotated[str, Meta(max_length=MAX_CHARACTERS)] | UnsetType = UNSET


class TitleBody(Body):
    title: _Title


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


_NEW = {"application/json": NewDocumentBody, "multipart/form-data": DocumentForm}
_REPLACED = {"application/json": DocumentBody, "multipart/form-data": DocumentForm}


class DocumentPage(Page):
    results: list[DocumentAnswer]


class DocumentSourceView(StrictAPIView):
    """A view that accepts documents."""

    parser_classes = [StrictJSONParser, FileFormParser]

    def slots_of(self, request: Request) -> UserSlots:
        return LONG_BODIES if request.method in ("POST", "PUT") else super().slots_of(request)

    def source(self, request: Request, accepted: type[DocumentBody], **kept: str) -> DocumentSource:
        """Return the source in the body. kept: values for members that the body omits. Raises ApiError."""
        data: Any = request.data
        is_form = isinstance(data, dict) and any(isinstance(one, UploadedContent) for one in data.values())
        if is_form and not isinstance(data.get("file"), UploadedContent):
            raise ApiError("field_required", field="file")
        return read_source(
            current_user(request), kept | (data if is_form else self.parse(accepted).members())
        )


class DocumentsView(DocumentSourceView):
    @documented(
        "documents_list",
        answer=DocumentPage,
        parameters=PAGE_PARAMETERS,
    )
    def get(self, request: Request, knowledge_base: str) -> Response:
        """List the documents of a knowledge base, the newest first."""
        page = NewestUploadPagination()
        rows: list[Document] = (
            page.paginate_queryset(_documents_of(request, knowledge_base), request, view=self) or []
        )
        return page.get_paginated_response(present_documents(rows))

    @documented("documents_create", body=_NEW, answer=DocumentAnswer, statuses=(201,))
    def post(self, request: Request, knowledge_base: str) -> Response:
        """Add a document: a text, a file, a copy of an own upload, or the content of a URL. It is read afterwards."""
        base = get_editable_base(request, knowledge_base)
        source = self.source(request, NewDocumentBody)
        documents.check_room(base, source.size)  # before the content is stored; checked again with the row
        version = store_source(source)
        with blobs.discarded_on_failure([version.content] if version.content else []):
            document = documents.add_document(base, current_user(request), version)
        return Response(present_document(document), status.HTTP_201_CREATED)


class DocumentView(DocumentSourceView):
    @documented("documents_read", answer=DocumentAnswer)
    def get(self, request: Request, knowledge_base: str, document: str) -> Response:
        """Read the metadata of a document."""
        return Response(present_document(_get_document(request, knowledge_base, document)))

    @documented("documents_replace", body=_REPLACED, answer=DocumentAnswer)
    def put(self, request: Request, knowledge_base: str, document: str) -> Response:
        """Store a new version of a document. A URL is read again. Without `title`, the document keeps its own.

        Searches use the former version until the new one is complete. An unchanged content is not read again.
        """
        found = _get_editable_document(request, knowledge_base, document)
        source, user = self.source(request, DocumentBody, title=found.shown.name), current_user(request)
        if found.is_unchanged_by(source.hash):
            if found.name != source.title:
                found = documents.rename_version(found, user, source.title)
            return Response(present_document(found))
        version = store_source(source)
        with blobs.discarded_on_failure([version.content] if version.content else []):
            found = documents.replace_document(found, user, version)
        return Response(present_document(found))

    @documented("documents_update", body=patched(TitleBody), answer=DocumentAnswer)
    def patch(self, request: Request, knowledge_base: str, document: str) -> Response:
        """Change the title of a document."""
        found = _get_editable_document(request, knowledge_base, document)
        title = self.parse(patched(TitleBody)).members().get("title", found.shown.name)
        return Response(present_document(documents.rename_document(found, current_user(request), title)))

    @documented("documents_delete", statuses=(204,))
    def delete(self, request: Request, knowledge_base: str, document: str) -> Response:
        """Delete a document with its content."""
        found = _get_editable_document(request, knowledge_base, document)
        documents.delete_document(found, current_user(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentTextView(StrictAPIView):
    slots = EXPENSIVE

    @documented("documents_text", answer={"text/plain": OpenApiTypes.STR}, parameters=PART)
    def get(self, request: Request, knowledge_base: str, document: str) -> HttpResponse:
        """Read the text that searches use, or a part of it."""
        found = _get_document(request, knowledge_base, document)
        if found.chunks_version is None:
            check_read(found)
        return text_response(found, request)


class DocumentContentView(StrictAPIView):
    @documented("documents_download", answer={"*/*": OpenApiTypes.BINARY}, statuses=(200, 206))
    def get(self, request: Request, knowledge_base: str, document: str) -> HttpResponseBase:
        """Download the content, or the part that `Range` names."""
        return content_response(request, _get_document(request, knowledge_base, document).shown)


def _documents_of(request: Request, base: str) -> Any:
    found = get_readable_base(request, base)
    own = Document.objects.readable_by(current_user(request)).filter(knowledge_base=found.pk)
    return own.select_related("served").defer("text")


def _get_document(request: Request, base: str, pk: str) -> Document:
    found: Document = get_own_row(_documents_of(request, base), pk, "document")
    return found


def _get_editable_document(request: Request, base: str, pk: str) -> Document:
    editable: KnowledgeBase = get_editable_base(request, base)
    documents_of_base = Document.objects.filter(knowledge_base=editable.pk).select_related(
        "knowledge_base__owner", "served"
    )
    found: Document = get_own_row(documents_of_base.defer("text"), pk, "document")
    return found


def present_documents(documents: Sequence[Document]) -> list[JSONObject]:
    """Present documents, which have `served` joined. A document is ready when its text and its vectors are.
    One query reads the missing vectors of all documents.
    """
    ready = [document.pk for document in documents if document.status == FileStatus.READY]
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
    version = document.shown
    return DocumentAnswer.from_row(
        document,
        document.reading,
        title=version.name,
        url=version.url or None,
        status=FileStatus.PROCESSING if is_waiting else document.status,
        error=describe_file_error(document) if document.status == FileStatus.FAILED else None,
        content_type=version.content_type,
        size=version.size_bytes,
    ).json()
