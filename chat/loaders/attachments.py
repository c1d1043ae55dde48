"""Loads files of messages and projects as the values that models see. Reads the database and the file storage."""

import logging
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import Statement, select_list
from chat.transcript.entries import Document, Image, TextFile
from chat.transcript.tokens import picture_tokens
from knowledge.files import blobs
from knowledge.models import FileKind

logger = logging.getLogger(__name__)


class _FileRow(NamedTuple):
    """The columns of `knowledge_file` that a model's request needs."""

    id: UUID
    name: str
    kind: str
    content_type: str
    content: str
    size_bytes: int
    text: str
    token_count: int
    width_px: int | None
    height_px: int | None
    page: int | None

    def as_text(self, number: int) -> TextFile:
        document = Document(number, str(self.id), self.name, self.text)
        return TextFile(str(self.id), self.name, self.size_bytes, document, self.token_count)

    def as_unread_image(self) -> Image:
        return Image(str(self.id), self.name, "", self.width_px or 0, self.height_px or 0)

    def as_image(self) -> Image:
        """Read the image; without an address if its content cannot be read."""
        try:
            encoded = b64encode(blobs.read_whole(self.content)).decode()
        except OSError as error:
            logger.warning("file %s: its content cannot be read: %s", self.id, error)
            return Image(str(self.id), self.name, "", 0, 0, self.page or 0)
        url = f"data:{self.content_type};base64,{encoded}"
        return Image(str(self.id), self.name, url, self.width_px or 0, self.height_px or 0, self.page or 0)


class ProjectSize(NamedTuple):
    """The size of a project. files, tokens: of its readable texts.  others: pictures, and files being read."""

    files: int
    tokens: int
    others: int = 0


class OtherFile(NamedTuple):
    """A picture of a project, or a file of it that is still being read and has no size yet."""

    file: _FileRow
    is_picture: bool

    @property
    def name(self) -> str:
        return " ".join(self.file.name.split())

    @property
    def tokens(self) -> int:
        return picture_tokens(self.file.width_px or 0, self.file.height_px or 0)


class _ToolImage(NamedTuple):
    call: UUID
    file: _FileRow


class _CountedFile(NamedTuple):
    tokens: int
    file: _FileRow


class _AttachedFile(NamedTuple):
    message: UUID
    number: int | None
    file: _FileRow


# Parameters: messages. Plan: one_file_per_position, primary key of knowledge_file.
_OF_MESSAGES: Final = Statement(
    f"""
    SELECT attached.message_id, attached.number, {select_list(_FileRow, "file")}
    FROM chat_messagefile AS attached JOIN knowledge_file AS file ON file.id = attached.file_id
    WHERE attached.message_id = ANY(%(messages)s) ORDER BY attached.message_id, attached.position
    """,  # noqa: S608  names of columns alone
    _AttachedFile,
)
# Parameters: calls. Plan: one_tool_image_per_position, primary key of knowledge_file.
_OF_CALLS: Final = Statement(
    f"""
    SELECT image.tool_call_id, {select_list(_FileRow, "file")}
    FROM chat_toolcallimage AS image JOIN knowledge_file AS file ON file.id = image.file_id
    WHERE image.tool_call_id = ANY(%(calls)s) AND file.status = 'ready' ORDER BY image.tool_call_id, image.position
    """,  # noqa: S608  names of columns alone
    _ToolImage,
)
_IS_TEXT: Final = "file.status = 'ready' AND file.kind <> 'image'"
_IS_OTHER: Final = "(file.status = 'processing' OR (file.status = 'ready' AND file.kind = 'image'))"
# Tokens in the default encoding where a text was not counted in this one.
_TOKENS: Final = "COALESCE((file.tokens_by_encoding->>%(encoding)s)::int, file.token_count)"
# Parameters: project, encoding. Plan: index of knowledge_file.project_id.
_OF_PROJECT: Final = Statement(
    f"""
    SELECT {_TOKENS}, {select_list(_FileRow, "file")} FROM knowledge_file AS file
    WHERE file.project_id = %(project)s AND {_IS_TEXT}
    ORDER BY file.created_at, file.id
    """,  # noqa: S608  names of columns alone
    _CountedFile,
)


# Parameters: project. Plan: index of knowledge_file.project_id. An empty column stands for the text, which is not read.
_OTHERS_OF_PROJECT: Final = Statement(
    f"""
    SELECT {select_list(_FileRow, "file", text="error_code")}, file.status = 'ready'
    FROM knowledge_file AS file WHERE file.project_id = %(project)s AND {_IS_OTHER}
    ORDER BY file.created_at, file.id
    """,  # noqa: S608  names of columns alone
    OtherFile,
)
# Parameters: project, encoding. Plan: index of knowledge_file.project_id; the texts are not read.
_SIZE_OF_PROJECT: Final = Statement(
    f"""
    SELECT count(*) FILTER (WHERE {_IS_TEXT}), COALESCE(sum({_TOKENS}) FILTER (WHERE {_IS_TEXT}), 0)::bigint,
        count(*) FILTER (WHERE {_IS_OTHER})
    FROM knowledge_file AS file WHERE file.project_id = %(project)s
    """,  # noqa: S608  constants alone
    ProjectSize,
)


@dataclass(slots=True)
class Attachments:
    """The files and images of one message, in the order of the request."""

    files: list[TextFile] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)


def load_attachments(message_ids: Iterable[UUID]) -> dict[UUID, Attachments]:
    """Load attachments by message id. Messages without files are left out.
    An unreadable image has no address, and is logged."""
    by_message: dict[UUID, Attachments] = defaultdict(Attachments)
    for message, number, file in _OF_MESSAGES.all(messages=list(message_ids)):
        if file.kind != FileKind.IMAGE:
            by_message[message].files.append(file.as_text(number or 0))
        else:
            by_message[message].images.append(file.as_image())
    return dict(by_message)


def load_tool_images(calls: Iterable[UUID], *, with_contents: bool) -> dict[UUID, tuple[Image, ...]]:
    """Load the images that calls returned and that can be shown, by id of the call. Calls without images are left out.

    with_contents: if false, the images have no address, and the storage is not read.
    """
    by_call: dict[UUID, list[Image]] = defaultdict(list)
    for call, file in _OF_CALLS.all(calls=list(calls)):
        by_call[call].append(file.as_image() if with_contents else file.as_unread_image())
    return {call: tuple(images) for call, images in by_call.items()}


def load_project_files(project_id: UUID, encoding: str = "") -> list[TextFile]:
    """Load the readable texts of a project, oldest first. Documents have the number 0: numbers depend on the branch.

    encoding: in which their tokens are counted; empty: the default.
    """
    found = _OF_PROJECT.all(project=project_id, encoding=encoding)
    return [replace(file.as_text(0), token_count=tokens) for tokens, file in found]


def measure_project_files(project_id: UUID, encoding: str = "") -> ProjectSize:
    """Measure the files of a project. encoding: in which its tokens are counted; empty: the default."""
    [size] = _SIZE_OF_PROJECT.all(project=project_id, encoding=encoding)
    return size


def load_other_project_files(project_id: UUID) -> list[OtherFile]:
    """Load the files that `ProjectSize.others` counts, oldest first. The pictures themselves are not read."""
    return _OTHERS_OF_PROJECT.all(project=project_id)
