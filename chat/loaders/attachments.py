"""Loads files of messages and projects as the values that models see. Reads the database and the file storage."""

import logging
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.core.files.storage import default_storage

from chat.models.sql import statements
from chat.transcript.entries import Document, Image, TextFile
from knowledge.models import FileKind

logger = logging.getLogger(__name__)

_FILE: Final = """
    file.id, file.name, file.kind, file.content_type, file.content, file.size_bytes, file.text, file.token_count,
    file.width_px, file.height_px
"""
_OF_MESSAGES: Final = f"""
    SELECT attached.message_id, attached.number, {_FILE}
    FROM chat_messagefile AS attached JOIN knowledge_file AS file ON file.id = attached.file_id
    WHERE attached.message_id = ANY(%(messages)s) ORDER BY attached.message_id, attached.position
"""  # noqa: S608  names of columns alone
_OF_PROJECT: Final = f"""
    SELECT NULL, 0, {_FILE} FROM knowledge_file AS file
    WHERE file.project_id = %(project)s AND file.status = 'ready' AND file.kind <> 'image'
    ORDER BY file.created_at, file.id
"""  # noqa: S608  names of columns alone


@dataclass(slots=True)
class Attachments:
    """The files and images of one message, in the order of the request."""

    files: list[TextFile] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)


def load_attachments(message_ids: Iterable[UUID]) -> dict[UUID, Attachments]:
    """Message id -> attachments; messages without files are left out. An unreadable image is left out and logged."""
    by_message: dict[UUID, Attachments] = defaultdict(Attachments)
    for message, number, *file in statements.every(_OF_MESSAGES, {"messages": list(message_ids)}):
        row = _Row(*file)
        if row.kind != FileKind.IMAGE:
            by_message[message].files.append(row.as_text(number))
        else:
            image = row.as_image()
            by_message[message].images += [image] if image else []
    return dict(by_message)


def load_project_files(project_id: UUID) -> list[TextFile]:
    """The readable texts of a project, oldest first. Their documents have the number 0: numbers depend on the branch."""
    return [_Row(*file).as_text(0) for _, _, *file in statements.every(_OF_PROJECT, {"project": project_id})]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with the columns of _FILE."""

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

    def as_text(self, number: int) -> TextFile:
        document = Document(number, str(self.id), self.name, self.text)
        return TextFile(str(self.id), self.name, self.size_bytes, document, self.token_count)

    def as_image(self) -> Image | None:
        try:
            with default_storage.open(self.content) as content:
                encoded = b64encode(content.read()).decode()
        except OSError as error:
            logger.warning("file %s: its content cannot be read: %s", self.id, error)
            return None
        url = f"data:{self.content_type};base64,{encoded}"
        return Image(str(self.id), self.name, url, self.width_px or 0, self.height_px or 0)
