"""Fetches the content of a URL: a page, a text, or another type that the caller accepts."""

import asyncio
import re
from collections.abc import Collection
from typing import Final, NamedTuple

from knowledge.fetching.guarded_client import GuardedRequest, RequestLimits, Resolver, resolve_host, send
from knowledge.fetching.target import UrlRefused
from knowledge.texts.text_encodings import as_utf8, declared_charset

_TEXTS: Final = frozenset(
    {"application/xhtml+xml", "application/json", "application/xml", "application/javascript"}
)
# RFC 6838, but shorter: the column has 200 characters. The stored type is sent as a header again.
_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,99}/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}")
HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_ACCEPT: Final = (
    "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8"
)


class FetchedPage(NamedTuple):
    """A fetched page. url: the URL after all redirects.
    content: converted to UTF-8 if the server or the page named another known encoding.
    """

    url: str
    content_type: str
    content: bytes


def fetch_text(url: str, resolve: Resolver = resolve_host) -> FetchedPage:
    """Fetch a text, in a thread without an event loop.
    Takes the total time of RequestLimits at most. Raises UrlRefused.
    """
    return asyncio.run(fetch_page(url, resolve=resolve))


async def fetch_page(
    url: str,
    also: Collection[str] = (),
    limits: RequestLimits | None = None,
    resolve: Resolver = resolve_host,
) -> FetchedPage:
    """Fetch a page. `also`: content types that are accepted beside texts. Raises UrlRefused."""
    accept = ", ".join([_ACCEPT, *(f"{kind};q=0.7" for kind in also)])
    async with send(GuardedRequest(url, headers={"Accept": accept}), limits, resolve) as response:
        if not 200 <= response.status < 300:
            raise UrlRefused("http_error", str(response.status))
        content_type, charset = _parse_type(response.headers.get("Content-Type", ""))
        if not (content_type.startswith("text/") or content_type in _TEXTS or content_type in also):
            raise UrlRefused("content_type_unsupported", content_type[:60])
        content = await response.read()
        if content_type in HTML_TYPES:
            charset = charset or declared_charset(content)
        return FetchedPage(response.url, _text_type(content_type), as_utf8(content, charset))


def _parse_type(header: str) -> tuple[str, str]:
    """Return the content type and the charset, in lower case; each is empty if the server names none.
    Raises UrlRefused for an invalid type.
    """
    kind, _, parameters = header.lower().partition(";")
    kind = kind.strip()
    if kind and not _TYPE.fullmatch(kind):
        raise UrlRefused("content_type_unsupported", kind[:60])
    if kind.endswith("+json"):
        kind = "application/json"
    elif kind.endswith("+xml") and kind not in _TEXTS:
        kind = "application/xml"
    _, _, charset = parameters.partition("charset=")
    return kind, charset.strip(" \"';").split(";")[0]


def _text_type(kind: str) -> str:
    return kind.replace("application/javascript", "text/javascript")
