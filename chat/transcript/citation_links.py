"""Links to cited documents: writes the Markdown link to a document. Pure.

The live stream, a resumed attempt and a rebuild use the same function to write a link, so that a link that was
streamed is always found again.
"""

import re
from typing import Any, Final, Protocol

from chat.transcript.entries import Document

_LINKABLE: Final = re.compile(r"https?://|/(?!/)")
_IPV6_HOST: Final = re.compile(r"https?://\[[0-9a-fA-F.]*:[0-9a-fA-F:.]*\]")
# Characters that RFC 3986 does not allow in a URI (a host in brackets aside), all white space and control characters,
# and parentheses: each may end a Markdown link, begin a code span or a table cell, or leave an HTML attribute.
# Also the semicolon of a character reference (&lt;), which Markdown would decode.
_UNSAFE: Final = re.compile(r"""[\s\x00-\x20\x7f-\x9f"<>\\^`{|}()\[\]]|(?<=&)(#?\w{1,32});""")


class Cited(Protocol):
    """A citation as a packet, a row or a document holds it."""

    @property
    def number(self) -> int: ...
    @property
    def document_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str | None: ...


def citation_link(document: Document) -> str:
    """Return `[[1]](address)`, or `[1]` for a document without an address that a browser may follow."""
    if _LINKABLE.match(document.url):
        return f"[[{document.number}]]({_escape(document.url)})"
    return f"[{document.number}]"


def citation_record(cited: Cited) -> dict[str, Any]:
    """Return a citation as clients see it: an item of a message's `citations`."""
    members = {"number": cited.number, "document_id": cited.document_id, "title": cited.title}
    return members | ({"url": cited.url} if cited.url else {})


def _escape(url: str) -> str:
    host = _IPV6_HOST.match(url)
    begin = host.end() if host else 0
    return url[:begin] + _UNSAFE.sub(_percent_encode, url[begin:])


def _percent_encode(found: re.Match[str]) -> str:
    if found[1]:
        return f"{found[1]}%3B"
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace"))
