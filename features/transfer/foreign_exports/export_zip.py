"""Finds the conversations and the files of questions in the zip that ChatGPT, Claude or DeepSeek sends.

Other entries are not unpacked. Conversations are in conversations.json, or in conversations-000.json and those that
follow, all in one folder.
"""

import mmap
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Final, NamedTuple

from chat.protocol.errors import ApiError
from chat.sessions.portable.archive_reader import ZipReader, refusal
from features.transfer.foreign_exports import chatgpt
from features.transfer.foreign_exports.foreign_importer import Part
from features.transfer.foreign_exports.products import WHAT_TO_CHOOSE

# Enough for the pictures of years. The length of the directory is limited as well.
MAX_ENTRIES: Final = 20_000
MAX_PARTS: Final = 2_000
_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_CONVERSATIONS: Final = re.compile(r"((?:.*/)?)conversations(?:-(\d{1,6}))?\.json", re.DOTALL | re.ASCII)
_SHOWN_NAME: Final = 500


def is_archive(content: IO[bytes]) -> bool:
    """Return whether the content is a zip, by its first bytes. Leaves the content at its start."""
    content.seek(0)
    first = content.read(4)
    content.seek(0)
    return first in _MAGIC


class Export(NamedTuple):
    """An unpacked export. parts: in their order. files: the other entries by the ids of files, not unpacked yet."""

    parts: list[Part]
    archive: ZipReader
    files: dict[str, str]


@contextmanager
def unpacked(content: IO[bytes], max_bytes: int) -> Iterator[Export]:
    """Unpack the parts into one temporary file without a name, and yield them memory-mapped. Raises ApiError.

    All are unpacked before the first is read, so that nothing is imported from a damaged archive.
    max_bytes: the limit for all parts together, and for all files together.
    """
    with ExitStack() as opened:
        archive = opened.enter_context(ZipReader(content, MAX_ENTRIES))
        names = _conversations(archive.entries)
        archive.check_size(names, max_bytes)
        files = _files(archive.entries)
        archive.check_size(files.values(), max_bytes)
        file = opened.enter_context(tempfile.TemporaryFile())
        spans = [_unpack(archive, name, file) for name in names]
        file.flush()
        parts = [
            Part(name[:_SHOWN_NAME], _mapped(opened, file, *span))
            for name, span in zip(names, spans, strict=True)
        ]
        yield Export(parts, archive, files)


def _files(entries: Iterable[str]) -> dict[str, str]:
    """Return the first entry of each file id."""
    found: dict[str, str] = {}
    for entry in entries:
        if source := chatgpt.source_at_start(entry.rpartition("/")[2]):
            found.setdefault(source, entry)
    return found


def _conversations(entries: Iterable[str]) -> list[str]:
    found = {name: match for name in entries if (match := _CONVERSATIONS.fullmatch(name))}
    if not found:
        raise refusal(f"The archive has no conversations.json. {WHAT_TO_CHOOSE}")
    if len({match[1] for match in found.values()}) > 1:
        raise refusal("The archive has conversations in more than one folder.")
    if len(found) > MAX_PARTS:
        raise refusal(f"The archive has more than {MAX_PARTS} files with conversations.")
    return sorted(found, key=lambda name: (int(found[name][2] or -1), name))


def _unpack(archive: ZipReader, name: str, into: IO[bytes]) -> tuple[int, int]:
    """Unpack an entry. Returns its start, at which a memory mapping may begin, and its length. Raises ApiError."""
    start = -(-into.tell() // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
    into.seek(start)
    for chunk in archive.read(name):
        into.write(chunk)
    if into.tell() == start:
        raise ApiError("file_empty", field=name)
    return start, into.tell() - start


def _mapped(opened: ExitStack, file: IO[bytes], start: int, length: int) -> mmap.mmap:
    return opened.enter_context(mmap.mmap(file.fileno(), length, offset=start, access=mmap.ACCESS_READ))
