"""Contents of files in a folder (MEDIA_ROOT)."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from django.core.files.storage import FileSystemStorage

_CHUNK_BYTES: Final = 64 * 1024


class FolderStorage(FileSystemStorage):
    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        """Store the content under its name, which is its id. Raises OSError; then no part of it is left."""
        is_new = name is not None and not self.exists(name)
        try:
            return super().save(name, content, max_length)
        except OSError:
            if name is not None and is_new:
                with suppress(OSError):
                    self.delete(name)
            raise

    def chunks(self, name: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Read the bytes from `start` to before `stop`, or to the end. Raises OSError, also between chunks."""
        with self.open(name) as content:
            content.seek(start)
            left = sys.maxsize if stop is None else stop - start
            while data := content.read(min(_CHUNK_BYTES, left)):
                left -= len(data)
                yield data
