"""Reads a session's zip archive from anybody: bounded in entries, bytes and memory, whatever its headers say.

Names of entries are compared and never used as paths. Nothing is stored here; archives inside are contents like others.
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Final, Self

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from chat.sessions.portable import format as f
from chat.sessions.portable.archive_writer import FOLDER, MANIFEST

# The directory has about a hundred bytes for each entry.
MAX_DIRECTORY_BYTES: Final = 1024 * 1024
MAX_ENTRIES: Final = f.MAX_ALL_FILES + 2  # with the manifest and the folder
_CHUNK_BYTES: Final = 64 * 1024
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1 | 0x40
# What zipfile raises for content that is no valid archive, apart from its own exception.
_BROKEN: Final = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


class SessionArchive:
    """max_bytes: what all entries together may unpack to. Every method raises ApiError for what it refuses."""

    def __init__(self, content: IO[bytes], max_bytes: int) -> None:
        try:
            self._archive = zipfile.ZipFile(_BoundedReads(content))
        except _BROKEN:
            raise _refusal("This is not a zip archive, or it is damaged.") from None
        self._entries = _checked(self._archive.infolist())
        if sum(entry.file_size for entry in self._entries.values()) > max_bytes:
            raise ApiError("body_too_large", "The archive unpacks to too much.", limit=max_bytes)
        if MANIFEST not in self._entries:
            raise _refusal(f"The archive has no {MANIFEST}.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._archive.close()

    def manifest(self) -> dict[str, Any]:
        content = bytearray()
        for chunk in self.read(MANIFEST):
            content += chunk
            if len(content) > f.MAX_BYTES:
                raise ApiError("body_too_large", limit=f.MAX_BYTES)
        return decode(bytes(content), max_values=f.MAX_VALUES)

    def files_of(self, messages: Sequence[f.Message]) -> dict[str, f.File]:
        """By entry, the files of the manifest whose contents are here. All entries must be named in it."""
        named = {
            given.entry: (f"messages.{message.id}.files.{index}", given)
            for message in messages
            for index, given in enumerate(message.files)
            if given.entry
        }
        for at, given in named.values():
            if given.entry not in self._entries and not given.is_missing:
                raise ApiError("invalid_value", "The archive has no such entry.", field=f"{at}.entry")
        if not self._entries.keys() <= {MANIFEST, *named}:
            raise _refusal("The archive has entries that its manifest does not name.")
        return {entry: given for entry, (_, given) in named.items() if not given.is_missing}

    def read(self, entry: str) -> Iterator[bytes]:
        """At most the number of bytes that the archive's directory says; fewer or others are an error."""
        try:
            with self._archive.open(self._entries[entry]) as content:
                while chunk := content.read(_CHUNK_BYTES):
                    yield chunk
        except _BROKEN:
            raise _refusal("An entry of the archive is damaged.") from None


class _BoundedReads:
    """A file in which no more than MAX_DIRECTORY_BYTES are read at once: ZipFile reads the directory in one piece."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content = content
        self.seek, self.tell, self.seekable = content.seek, content.tell, content.seekable

    def read(self, number: int = -1) -> bytes:
        data = self._content.read(number if 0 <= number <= MAX_DIRECTORY_BYTES else MAX_DIRECTORY_BYTES + 1)
        if len(data) > MAX_DIRECTORY_BYTES:
            raise ValueError("the directory is too long")
        return data


def _checked(entries: Sequence[zipfile.ZipInfo]) -> Mapping[str, zipfile.ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise _refusal(f"An archive has at most {f.MAX_ALL_FILES} files.")
    checked: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        if entry.orig_filename != entry.filename or entry.filename in checked:
            raise _refusal("The archive has a name twice, or one that is no name.")
        if entry.flag_bits & _ENCRYPTED:
            raise _refusal("The archive is encrypted.")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refusal("The archive has links.")
        if entry.compress_type not in _METHODS:
            raise _refusal("The archive is compressed in another way than deflate.")
        checked[entry.filename] = entry
    # Other programs write the folder as well.
    if FOLDER in checked and not checked[FOLDER].file_size:
        del checked[FOLDER]
    return checked


def _refusal(message: str) -> ApiError:
    return ApiError("invalid_value", message)
