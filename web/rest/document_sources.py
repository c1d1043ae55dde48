"""The sources of a document: a text, a file, an own upload, or a URL. Stores its content."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from django.contrib.auth.models import User
from msgspec import UNSET, Meta, UnsetType

from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.protocol.members import Visible
from knowledge.fetching.target import MAX_URL_CHARACTERS
from knowledge.files import blobs
from knowledge.files.file_names import MAX_CHARACTERS
from knowledge.models import DocumentVersion, File
from knowledge.models.document import hash_given
from web.rest.api_view import get_own_row
from web.rest.multipart_form import FormFile, UploadedContent
from web.rest.uploads import describe_upload, store_content

# The limit of the ingest process (ingest/reader/reading_outcome.py); the body itself has a limit in bytes.
MAX_TEXT_CHARACTERS: Final = 5_000_000
_HASHED_BYTES: Final = 256 * 1024  # at a time
_SOURCES: Final = ("text", "file", "url")


_Title = Annotated[Visible, Meta(max_length=MAX_CHARACTERS)]


class DocumentBody(Body):
    """One of `text`, `file` (the id of an own upload, which is copied) and `url`."""

    keywords: ClassVar[Mapping[str, Any]] = {"oneOf": [{"required": [name]} for name in _SOURCES]}
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

    keywords = {"oneOf": [{"required": ["text", "title"]}, {"required": ["file"]}, {"required": ["url"]}]}

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


@dataclass(frozen=True)
class DocumentSource:
    """A source with either `upload` or `url`. row: the unstored row of the upload, with its name and content type."""

    title: str
    upload: UploadedContent | None = None
    row: File | None = None
    url: str = ""

    @property
    def size(self) -> int:
        return self.upload.size if self.upload else 0

    @cached_property
    def hash(self) -> bytes | None:
        """The hash of the content; None for a URL, whose content is not known yet."""
        if self.upload is None or self.row is None:
            return None
        self.upload.content.seek(0)
        parts = iter(partial(self.upload.content.read, _HASHED_BYTES), b"")
        return hash_given(self.row.content_type, parts)


def read_source(user: User, data: dict[str, Any]) -> DocumentSource:
    """Return the source from a form or a valid body, in which a text has a title. Raises ApiError."""
    if isinstance(data.get("file"), UploadedContent):
        return _of_form(user, data)
    if "text" in data:
        return _of_text(user, data["title"], data["text"])
    if "url" in data:
        url = data["url"].strip()
        return DocumentSource(data.get("title") or url[:MAX_CHARACTERS], url=url)
    return _of_own_file(user, str(data["file"]), data.get("title"))


def store_source(source: DocumentSource) -> DocumentVersion:
    """Store the content; without its row, stored later, the sweeper deletes it. Raises ApiError."""
    if source.upload is None or source.row is None:
        return DocumentVersion(source.title, url=source.url)
    store_content(source.upload, source.row)
    return DocumentVersion(
        source.title,
        source.row.content_type,
        source.upload.size,
        str(source.row.content.name),
        source.hash,
    )


def _of_form(user: User, form: dict[str, Any]) -> DocumentSource:
    for name in form:
        if name not in ("file", "title"):
            raise ApiError("unknown_field", field=name[:100])
    row = describe_upload(user, form["file"])
    title = form.get("title", row.name)
    if not title.strip() or len(title) > MAX_CHARACTERS:
        raise ApiError("invalid_value", field="title")
    return DocumentSource(title, form["file"], row)


def _of_text(user: User, title: str, text: str) -> DocumentSource:
    upload = UploadedContent(title)
    upload.write(text.encode())
    return DocumentSource(title, upload, File(owner=user, name=title, content_type="text/markdown"))


def _of_own_file(user: User, pk: str, title: str | None) -> DocumentSource:
    """Return a copy of an own upload, so that later changes of the upload do not matter. Raises ApiError."""
    own = get_own_row(File.objects.visible_to(user).defer("text"), pk, "file", field="file")
    upload = UploadedContent(own.name)
    try:
        for chunk in blobs.read(str(own.content.name)) if own.content else ():
            upload.write(chunk)
    except FileNotFoundError:
        raise ApiError("file_not_found", field="file") from None
    except OSError:
        raise ApiError("file_storage_unavailable") from None
    if not upload.size:
        raise ApiError("file_not_found", field="file")
    row = File(owner=user, name=own.name, content_type=own.content_type)
    return DocumentSource(title or own.name, upload, row)
