"""Exports a session as a zip archive in pieces: the contents of its files, then the manifest that describes them.

Memory contains only one chunk and the descriptions of the files. Reads the database and the storage.
"""

import io
import logging
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final
from uuid import UUID

import msgspec
from django.conf import settings

from chat.models import MessageFile, Session, ToolCallImage
from chat.sessions.portable import format as f
from chat.sessions.portable.exporter import DocumentFiles, document, order_of
from knowledge.files import blobs
from knowledge.models import File

logger = logging.getLogger(__name__)

MANIFEST: Final = "manifest.json"
FOLDER: Final = "files/"
# The columns that order the images of a message.
_PLACE: Final = ("tool_call__turn_number", "tool_call__tab_index", "position")
# Of MAX_IMPORT_BYTES, for files and images; the manifest and the directory need room, too.
_IMPORTED_SHARE: Final = 0.75


def as_zip(session: Session) -> Iterator[bytes]:
    """Yield the archive in pieces.
    The manifest marks contents as missing that are gone or cannot be read to their end."""
    numbers = {pk: number for number, pk in enumerate(order_of(session))}
    attached = _attached(session, numbers)
    returned = _returned(session, numbers, attached)
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        described: dict[UUID, f.File] = {}
        placed: list[MessageFile | ToolCallImage] = [*attached, *returned]
        for one in placed:
            if one.file_id not in described:
                entry = f"{FOLDER}{len(described) + 1}"
                described[one.file_id] = yield from write_content(archive, pipe, entry, one.file)
        by_message: dict[UUID, list[f.File]] = {}
        for place in attached:
            files = by_message.setdefault(place.message_id, [])
            files.append(msgspec.structs.replace(described[place.file_id], number=place.number))
        by_call: dict[UUID, list[f.File]] = {}
        for image in returned:
            by_call.setdefault(image.tool_call_id, []).append(described[image.file_id])
        version = f.IMAGES_VERSION if by_call else f.ARCHIVE_VERSION
        with archive.open(compressed(MANIFEST), "w") as member:
            for piece in document(session, version, DocumentFiles(lambda _: by_message, by_call)):
                member.write(piece)
                yield pipe.take()
    yield pipe.take()


def _attached(session: Session, numbers: Mapping[UUID, int]) -> list[MessageFile]:
    """Return the attached files in the order of the manifest. numbers: of the messages there.
    The rows are read once: a file that is deleted meanwhile stays in the manifest."""
    rows = MessageFile.objects.chosen().filter(message__session=session)
    known = (one for one in rows if one.message_id in numbers)
    return sorted(known, key=lambda one: (numbers[one.message_id], one.position))


def _returned(
    session: Session, numbers: Mapping[UUID, int], attached: Sequence[MessageFile]
) -> list[ToolCallImage]:
    """Return the images that tool calls returned, in the order of the manifest.
    Of too many for an import, the latest: they must not keep the chat from being imported.
    """
    rows = ToolCallImage.objects.visible().filter(tool_call__run__turn__session=session)
    places = {
        pk: (numbers.get(message, -1), parent is not None, *place)
        for pk, message, parent, *place in rows.values_list(
            "pk", "tool_call__run__message", "tool_call__parent_tool_call", *_PLACE
        )
    }
    found = sorted((image for image in rows if image.pk in places), key=lambda image: places[image.pk])
    sizes = {one.file_id: one.file.size_bytes for one in attached}
    size = sum(sizes.values())
    for count, image in enumerate(reversed(found)):
        if image.file_id not in sizes:
            sizes[image.file_id] = image.file.size_bytes
            size += image.file.size_bytes
        if len(attached) + count == f.MAX_ALL_FILES or size > settings.MAX_IMPORT_BYTES * _IMPORTED_SHARE:
            return found[len(found) - count :]
    return found


def write_content(
    archive: zipfile.ZipFile, pipe: "Pipe", entry: str, file: File
) -> Generator[bytes, None, f.File]:
    """Yield the archive's next pieces; return the description of the file, with its entry if there is one."""
    described = f.File(
        file.name,
        file.kind,  # type: ignore[arg-type]
        content_type=file.content_type,
        token_count=file.token_count,
    )
    content = _Content(file)
    first = content.read()
    if not first:
        return msgspec.structs.replace(described, is_missing=True)
    digest, size = sha256(), 0
    with archive.open(zipfile.ZipInfo(entry), "w") as member:
        for chunk in chain([first], iter(content.read, b"")):
            digest.update(chunk)
            size += len(chunk)
            member.write(chunk)
            yield pipe.take()
    yield pipe.take()
    # The chunks written so far stay in the archive.
    return msgspec.structs.replace(
        described, entry=entry, size=size, sha256=digest.hexdigest(), is_missing=content.is_cut
    )


class _Content:
    """The content of a file, up to its end or to the first error (`is_cut`)."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._chunks = blobs.read(str(file.content.name)) if file.content else iter(())
        self.is_cut = False

    def read(self) -> bytes:
        """Return the next chunk; empty at the end."""
        try:
            return next(self._chunks, b"")
        except OSError as error:
            logger.warning("file %s: exported without its content: %s", self._file.pk, error)
            self.is_cut = True
            return b""


class Pipe(io.RawIOBase):
    """A buffer between ZipFile and the reader. It cannot seek, so ZipFile writes sizes after the contents."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._written += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def compressed(name: str) -> zipfile.ZipInfo:
    """Return the entry of a compressed member. Contents of files are not compressed: most formats already are."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
