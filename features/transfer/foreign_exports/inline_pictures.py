"""Pictures that an export has as data URLs in its JSON. Pure.

Before a conversation is decoded, each is replaced by a reference, so that it takes no memory and does not count for the
limits of texts. A data URL is a picture only if it is a whole JSON string, or the target of a picture in Markdown:
elsewhere it is part of a text.
"""

import re
from binascii import Error, a2b_base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from chat.protocol.errors import ApiError
from chat.sessions.portable import format as f
from features.transfer.foreign_exports.elements import Content, Element
from features.transfer.foreign_exports.foreign_objects import Unreadable
from knowledge.files.file_types import IMAGES, extension

# Begins with a literal, for which the search is fast. A slash may be escaped in JSON.
_URL: Final = re.compile(
    rb"data:image(?:(?<=[^\\]\"data:image)(?P<whole>)|(?<=\]\(data:image))\\?/(?P<subtype>[\w.+-]{1,40})(?:;[\w.=-]{1,40})?;base64,"
    rb"(?P<base64>(?:[A-Za-z0-9+/=]++|\\/)*+)(?(whole)(?=\")|(?=[) ]))",
    re.ASCII,
)
_REFERENCE: Final = "data:;picture="
REFERENCE: Final = re.compile(rf"{_REFERENCE}(\d{{1,9}})", re.ASCII)
# A reference in Markdown, with its alternative text.
IN_MARKDOWN: Final = re.compile(
    rf"!?\[(?P<alt>[^\[\]\n]{{0,1000}})\]\((?P<reference>{_REFERENCE}\d{{1,9}})(?: +\"[^\"\n]{{0,1000}}\")?\)",
    re.ASCII,
)
_EXTENSIONS: Final = {"jpeg": "jpg", "svg+xml": "svg", "tiff": "tif", "x-png": "png", "pjpeg": "jpg"}
# The limit of a conversation; further pictures stay in its text.
MAX_PICTURES: Final = f.MAX_ALL_FILES
_STEP: Final = 256 * 1024


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture, whose base64 is content[start:end]. subtype: of the content type."""

    content: Content
    subtype: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """An estimate of the size in bytes: a few too small, or too large by escaped slashes."""
        return max(0, (self.end - self.start) // 4 * 3 - 2)

    def read(self) -> Iterator[bytes]:
        """Yield the decoded content in chunks. Raises ApiError if it is damaged."""
        rest = b""
        try:
            for at in range(self.start, self.end, _STEP):
                rest += self.content[at : min(at + _STEP, self.end)].replace(b"\\", b"")
                whole = len(rest) // 4 * 4
                yield a2b_base64(rest[:whole], strict_mode=True)
                rest = rest[whole:]
            yield a2b_base64(rest + b"=" * (-len(rest) % 4), strict_mode=True)
        except Error:
            raise ApiError("invalid_value", "The picture's data URL is damaged.") from None

    def name(self, given: str) -> str:
        """Return the name with the extension of a picture, which is added if missing: uploads are checked by it."""
        if extension(given) in IMAGES or extension(given) == "svg":
            return given
        return f"{given[:240]}.{_EXTENSIONS.get(self.subtype, self.subtype)}"


class Lifted(NamedTuple):
    """A conversation and its pictures. raw: the conversation with references instead."""

    raw: bytes
    pictures: Sequence[Picture]


def lift(content: Content, element: Element) -> Lifted:
    """Replace the pictures of a conversation by references. Raises Unreadable if the rest is too large."""
    spans: list[tuple[int, int]] = []
    pictures: list[Picture] = []
    for found in islice(
        _URL.finditer(content, element.start, element.end),  # type: ignore[call-overload]
        MAX_PICTURES,
    ):
        spans.append(found.span())
        subtype = found["subtype"].decode().lower()
        pictures.append(Picture(content, subtype, *found.span("base64")))
    if element.end - element.start - sum(end - start for start, end in spans) > f.MAX_BYTES:
        raise Unreadable("body_too_large", "The conversation is too large.", ("",))
    pieces: list[bytes] = []
    at = element.start
    for index, (start, end) in enumerate(spans):
        pieces += content[at:start], f"{_REFERENCE}{index}".encode()
        at = end
    return Lifted(b"".join((*pieces, content[at : element.end])), pictures)


def urls_in(parts: Any) -> list[str]:
    """Return the URLs of pictures among the parts of a message, in the formats of model servers' APIs."""
    if not isinstance(parts, list):
        return []
    urls = (_url(part) for part in parts if isinstance(part, dict))
    return [url for url in urls if isinstance(url, str)]


def _url(part: dict[str, Any]) -> Any:
    image = part.get("image_url")
    if isinstance(image, dict):
        return image.get("url")
    return image or (part.get("url") if part.get("type") == "image" else None)
