"""Reads the zip archive of a session from an untrusted source: its manifest, and the entries that it names."""

from collections.abc import Sequence
from typing import IO, Any, Final

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from chat.sessions.portable import format as f
from chat.sessions.portable.archive_writer import FOLDER, MANIFEST
from chat.sessions.portable.zip_reader import ZipReader, refusal

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
