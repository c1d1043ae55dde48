"""Reads zip archives from an untrusted source: any, within limits, and that of a session with what it names.

Names of entries are compared, never used as paths. Stores nothing; nested archives are contents like any other.
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import IO, Any, Final, Self

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from chat.sessions.portable import format as f
from chat.sessions.portable.archive_writer import FOLDER, MANIFEST

# The directory has about a hundred bytes for each entry.
MAX_DIRECTORY_BYTES: Final = 1024 * 1024
_CHUNK_BYTES: Final = 64 * 1024
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1 | 0x40
# The exceptions of zipfile for invalid archives, its own and others.
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


class ZipReader:
    """A zip archive. entries: by name. Every method raises ApiError if it refuses the archive."""

    def __init__(self, content: IO[bytes], max_entries: int) -> None:
        try:
            self._archive = zipfile.ZipFile(_BoundedReads(content))
        except _BROKEN:
            raise refusal("This is not a zip archive, or it is damaged.") from None
        self.entries = _checked(self._archive.infolist(), max_entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._archive.close()

    def check_size(self, names: Iterable[str], max_bytes: int) -> None:
        """Raise ApiError if these entries unpack to more than max_bytes together, according to the directory."""
        if sum(self.entries[name].file_size for name in names) > max_bytes:
            raise ApiError("body_too_large", "The archive unpacks to too much.", limit=max_bytes)

    def read(self, entry: str) -> Iterator[bytes]:
        """Yield the entry in chunks: at most the size in the directory; damaged or shorter content raises ApiError."""
        try:
            with self._archive.open(self.entries[entry]) as content:
                while chunk := content.read(_CHUNK_BYTES):
                    yield chunk
        except _BROKEN:
            raise refusal("An entry of the archive is damaged.", entry) from None


class _BoundedReads:
    """A file that reads at most MAX_DIRECTORY_BYTES at once, since ZipFile reads the directory in one piece."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content = content
        self.seek, self.tell, self.seekable = content.seek, content.tell, content.seekable

    def read(self, number: int = -1) -> bytes:
        data = self._content.read(number if 0 <= number <= MAX_DIRECTORY_BYTES else MAX_DIRECTORY_BYTES + 1)
        if len(data) > MAX_DIRECTORY_BYTES:
            raise refusal("The directory of the archive is too long.")
        return data


def _checked(entries: Sequence[zipfile.ZipInfo], max_entries: int) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > max_entries:
        raise refusal(f"The archive has more than {max_entries} entries.")
    checked: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        if entry.orig_filename != entry.filename or entry.filename in checked:
            raise refusal("The archive has a name twice, or one that is no name.")
        if entry.flag_bits & _ENCRYPTED:
            raise refusal("The archive is encrypted.")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise refusal("The archive has links.")
        if entry.compress_type not in _METHODS:
            raise refusal("The archive is compressed in another way than deflate.")
        checked[entry.filename] = entry
    return checked


def refusal(message: str, entry: str | None = None) -> ApiError:
    return ApiError("invalid_value", message, field=entry)


MAX_ENTRIES: Final = f.MAX_ALL_FILES + 2  # with the manifest and the folder


class SessionArchive(ZipReader):
    """A session's archive.
    max_bytes: the limit for all entries unpacked. Every method raises ApiError if it refuses the archive."""

    def __init__(self, content: IO[bytes], max_bytes: int) -> None:
        super().__init__(content, MAX_ENTRIES)
        # Other programs write the folder as well.
        if FOLDER in self.entries and not self.entries[FOLDER].file_size:
            del self.entries[FOLDER]
        self.check_size(self.entries, max_bytes)
        if MANIFEST not in self.entries:
            raise refusal(f"The archive has no {MANIFEST}.")

    def manifest(self) -> dict[str, Any]:
        content = bytearray()
        for chunk in self.read(MANIFEST):
            content += chunk
            if len(content) > f.MAX_BYTES:
                raise ApiError("body_too_large", limit=f.MAX_BYTES)
        return decode(bytes(content), max_values=f.MAX_VALUES)

    def files_of(self, messages: Sequence[f.Message]) -> dict[str, f.PlacedFile]:
        """Return by entry the files of the manifest whose contents are in the archive.
        Raises ApiError if an entry is missing, or is not named in the manifest."""
        named = {placed.file.entry: placed for placed in f.placed_files(messages) if placed.file.entry}
        for entry, placed in named.items():
            if entry not in self.entries and not placed.file.is_missing:
                raise ApiError("invalid_value", "The archive has no such entry.", field=f"{placed.at}.entry")
        if not self.entries.keys() <= {MANIFEST, *named}:
            raise refusal("The archive has entries that its manifest does not name.")
        return {entry: placed for entry, placed in named.items() if not placed.file.is_missing}
