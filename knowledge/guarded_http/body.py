"""Unpacks the body of a response piece by piece: of a bomb, no more is unpacked than is accepted, and no more is received. Pure."""

import zlib
from typing import Final

from knowledge.guarded_http.refusal import UrlRefused

_GZIP: Final = frozenset({"gzip", "x-gzip"})
_PLAIN: Final = frozenset({"", "identity"})
# For zlib: a gzip header, with the largest window.
_GZIP_WINDOW: Final = 31


class BodyUnpacker:
    """max_bytes: of what is received, and of what is unpacked."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        """encoding: Content-Encoding. Raises UrlRefused for one that was not asked for."""
        encoding = encoding.strip().lower()
        if encoding not in _GZIP | _PLAIN:
            raise UrlRefused("content_type_unsupported", encoding[:20])
        self._unpacker = zlib.decompressobj(_GZIP_WINDOW) if encoding in _GZIP else None
        self._max_bytes = max_bytes
        self._received = self._unpacked = 0

    def feed(self, piece: bytes) -> bytes:
        """Raises UrlRefused."""
        self._received += len(piece)
        content = self._unpack(self._unpacker, piece) if self._unpacker else piece
        self._unpacked += len(content)
        if max(self._received, self._unpacked) > self._max_bytes:
            raise UrlRefused("response_too_large")
        return content

    def end(self) -> None:
        """Raises UrlRefused if the body was cut off."""
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
