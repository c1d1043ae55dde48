"""Contents of files in a folder (MEDIA_ROOT)."""

import sys
from collections.abc import Iterator
from typing import Final

from django.core.files.storage import FileSystemStorage

_CHUNK_BYTES: Final = 64 * 1024


class FolderStorage(FileSystemStorage):
    def chunks(self, name: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Read the bytes from `start` to before `stop`, or to the end. Raises OSError, also between chunks."""
        with self.open(name) as content:
            content.seek(start)
            left = sys.maxsize if stop is None else stop - start
            while data := content.read(min(_CHUNK_BYTES, left)):
                left -= len(data)
                yield data
