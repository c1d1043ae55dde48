"""Queries a search service: SearXNG or a compatible server, Brave or Tavily.

Replies are untrusted: size limits apply, no redirect is followed. Their shapes are described at
https://docs.searxng.org/dev/search_api.html, https://api-dashboard.search.brave.com/documentation and
https://docs.tavily.com/documentation/api-reference/endpoint/search.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from html import unescape
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from django.conf import settings

from chat.transcript.entries import Document
from llm_worker.tools.fair_slots import LoopSlots
from llm_worker.tools.queries import MAX_QUERIES
from llm_worker.tools.tool import ToolFailed

logger = logging.getLogger(__name__)

# Longer than SearXNG's timeout for its engines.
TIMEOUT = aiohttp.ClientTimeout(total=20, sock_connect=5)
MAX_BODY_BYTES = 2 * 1024 * 1024
RESULTS_PER_QUERY = 8
# Of a user as many as one call may ask: each may bring MAX_BODY_BYTES, which are parsed on the loop.
_SLOTS: Final = LoopSlots(places=4 * MAX_QUERIES, each=MAX_QUERIES)
LONGEST_TITLE = 300
LONGEST_SNIPPET = 2_000
# Must fit the column of cited documents; longer addresses usually encode the state of a page.
LONGEST_URL = 500
# Without a user name, which looks like another host: https://bank.example@evil.example.
_ADDRESS: Final = re.compile(r"https?://[^@/?#\\]+(?:[/?#]|\Z)")
_TAG: Final = re.compile(r"<[^<>]{0,100}>")


class Service(NamedTuple):
    """The API of a service. results: the path of the results in the reply.  has_markup: texts are HTML.

    request: returns the arguments of the HTTP request for query and key.  content, published: members of a result.
    """

    request: Callable[[str, str], Mapping[str, Any]]
    results: tuple[str, ...]
    content: str
    published: str
    method: str = "GET"
    has_markup: bool = False


SERVICES: Final = {
    "searxng": Service(
        lambda query, _key: {"params": {"q": query, "format": "json"}},
        ("results",), "content", "publishedDate",
    ),
    "brave": Service(
        lambda query, key: {
            "params": {"q": query, "count": str(RESULTS_PER_QUERY), "text_decorations": "false"},
            "headers": {"Accept": "application/json", "X-Subscription-Token": key},
        },
        ("web", "results"), "description", "page_age", has_markup=True,
    ),
    "tavily": Service(
        lambda query, key: {
            "json": {"query": query, "max_results": RESULTS_PER_QUERY},
            "headers": {"Authorization": f"Bearer {key}"},
        },
        ("results",), "content", "published_date", method="POST",
    ),
}  # fmt: skip


async def search(client: aiohttp.ClientSession, query: str) -> list[Document]:
    """Search with the configured service. Returns documents, best first, with number 0. Raises ToolFailed."""
    service = SERVICES[settings.WEB_SEARCH_SERVICE]
    free = await _SLOTS.take()
    try:
        body = await _ask(client, service, query)
    except TimeoutError as error:
        raise _failed("did not answer in time", error) from error
    except aiohttp.ClientError as error:
        raise _failed("could not be reached", error) from error
    finally:
        free()
    found = (_document(result, service) for result in _results(body, service))
    return list(islice(filter(None, found), RESULTS_PER_QUERY))


async def _ask(client: aiohttp.ClientSession, service: Service, query: str) -> bytes:
    sent = service.request(query, settings.WEB_SEARCH_API_KEY)
    async with client.request(
        service.method, _address(settings.WEB_SEARCH_URL), **sent, timeout=TIMEOUT, allow_redirects=False
    ) as response:
        if response.status != 200:
            _say_why(response.status)
            raise _failed(f"refused the question (status {response.status})")
        body = bytearray()
        async for piece in response.content.iter_chunked(64 * 1024):
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise _failed("sent more than can be read")
    return bytes(body)


def _say_why(status: int) -> None:
    """Log a likely cause of the refusal for the operator."""
    if settings.WEB_SEARCH_SERVICE == "searxng":
        if status == 403:
            logger.warning("the search server answered 403: are search.formats: [json] in its settings?")
    elif status in (401, 403, 422):
        logger.warning("the search service answered %s: is WEB_SEARCH_API_KEY right?", status)
    elif status in (429, 432, 433):
        logger.warning("the search service answered %s: the requests of its plan are used up", status)


def _address(server: str) -> str:
    return server if urlsplit(server).path.endswith("/search") else f"{server.rstrip('/')}/search"


def _results(body: bytes, service: Service) -> list[dict[str, Any]]:
    try:
        found = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise _failed("sent something that is no list of results", error) from error
    *outer, last = service.results
    for name in outer:
        # Brave omits this member if there are no results.
        found = found.get(name, {last: []}) if isinstance(found, dict) else None
    results = found.get(last) if isinstance(found, dict) else None
    if not isinstance(results, list):
        raise _failed("sent something that is no list of results")
    return [result for result in results if isinstance(result, dict)]


def _document(result: dict[str, Any], service: Service) -> Document | None:
    """Convert a result to a document; None if its address is invalid or too long."""
    url, published = _text(result, "url"), _text(result, service.published)
    if not _ADDRESS.match(url) or len(url) > LONGEST_URL:
        return None
    title, content = _text(result, "title"), _text(result, service.content)
    if service.has_markup:
        title, content = (unescape(_TAG.sub("", text)) for text in (title, content))
    return Document(
        number=0,
        document_id=url,
        title=title[:LONGEST_TITLE] or url,
        contents=content[:LONGEST_SNIPPET],
        url=url,
        metadata={"published": published[:40]} if published else {},
    )


def _text(result: dict[str, Any], name: str) -> str:
    value = result.get(name)
    return value.strip() if isinstance(value, str) else ""


def _failed(how: str, error: BaseException | None = None) -> ToolFailed:
    logger.warning("the search server %s (%s)", how, type(error).__name__ if error else "as it said")
    return ToolFailed(f"The web search {how}.")
