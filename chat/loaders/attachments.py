"""Files of messages and projects as models get them: values instead of rows. Reads the database and the storage."""

import logging
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
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
    """Of one message, in the order in which they were named."""

    files: list[TextFile] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)


def of_messages(message_ids: Iterable[Any]) -> dict[UUID, Attachments]:
    """By message; those without files are left out. A picture whose content is gone is left out and logged."""
    found: dict[UUID, Attachments] = defaultdict(Attachments)
    for message, number, *file in statements.every(_OF_MESSAGES, {"messages": list(message_ids)}):
        row = _Row(*file)
        if row.kind != FileKind.IMAGE:
            found[message].files.append(row.as_text(number))
        else:
            image = row.as_image()
            found[message].images += [image] if image else []
    return dict(found)


def of_project(project_id: Any) -> list[TextFile]:
    """Its readable texts, oldest first. Their documents have no numbers (0): those depend on the branch."""
    return [_Row(*file).as_text(0) for _, _, *file in statements.every(_OF_PROJECT, {"project": project_id})]


@dataclass(frozen=True, slots=True)
class _Row:
    """The columns of _FILE."""

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
