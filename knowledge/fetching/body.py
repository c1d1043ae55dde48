"""Unpacks the body of a response piece by piece. Pure.

No more of a decompression bomb is received or unpacked than the limit allows.
"""

import zlib
from typing import Final

from knowledge.fetching.refusal import UrlRefused

_GZIP: Final = frozenset({"gzip", "x-gzip"})
_PLAIN: Final = frozenset({"", "identity"})
# The wbits of zlib: a gzip header, with the largest window.
_GZIP_WINDOW: Final = 31


class BodyUnpacker:
    """Unpacks one body. max_bytes: the limit of the bytes received, and of the bytes unpacked."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        """Prepare for a body. `encoding`: Content-Encoding. Raises UrlRefused if it was not requested."""
        encoding = encoding.strip().lower()
        if encoding not in _GZIP | _PLAIN:
            raise UrlRefused("content_type_unsupported", encoding[:20])
        self._unpacker = zlib.decompressobj(_GZIP_WINDOW) if encoding in _GZIP else None
        self._max_bytes = max_bytes
        self._received = self._unpacked = 0

    def feed(self, piece: bytes) -> bytes:
        """Return the unpacked content of a piece. Raises UrlRefused if it is damaged or exceeds the limit."""
        self._received += len(piece)
        content = self._unpack(self._unpacker, piece) if self._unpacker else piece
        self._unpacked += len(content)
        if max(self._received, self._unpacked) > self._max_bytes:
            raise UrlRefused("response_too_large")
        return content

    def end(self) -> None:
        """Check that the body is complete. Raises UrlRefused if it was cut off."""
        if self._unpacker and self._received and not self._unpacker.eof:
            raise UrlRefused("url_unreachable", "gzip was cut off")

    def _unpack(self, unpacker: "zlib._Decompress", piece: bytes) -> bytes:
        try:
            content = unpacker.decompress(piece, self._max_bytes + 1 - self._unpacked)
        except zlib.error as error:
            raise UrlRefused("url_unreachable", "no gzip") from error
        if unpacker.unused_data:
            raise UrlRefused("url_unreachable", "more than one gzip stream")
        return content
