"""Queries a SearXNG-compatible search server. Its replies are untrusted: size limits apply, no redirect is followed."""

import json
import logging
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from chat.transcript.entries import Document
from llm_worker.tools.tool import ToolFailed

logger = logging.getLogger(__name__)

# Longer than SearXNG's timeout for its engines.
TIMEOUT = aiohttp.ClientTimeout(total=20, sock_connect=5)
MAX_BODY_BYTES = 2 * 1024 * 1024
RESULTS_PER_QUERY = 8
LONGEST_TITLE = 300
LONGEST_SNIPPET = 2_000
# Must fit the column of cited documents; longer addresses usually encode the state of a page.
LONGEST_URL = 500


async def search(client: aiohttp.ClientSession, server: str, query: str) -> list[Document]:
    """The documents found, best first, with number 0. Raises ToolFailed."""
    try:
        body = await _ask(client, server, query)
    except TimeoutError as error:
        raise _failed("did not answer in time", error) from error
    except aiohttp.ClientError as error:
        raise _failed("could not be reached", error) from error
    return [document for result in _results(body) if (document := _document(result))][:RESULTS_PER_QUERY]


async def _ask(client: aiohttp.ClientSession, server: str, query: str) -> bytes:
    parameters = {"q": query, "format": "json"}
    async with client.get(
        _address(server), params=parameters, timeout=TIMEOUT, allow_redirects=False
    ) as response:
        if response.status == 403:
            logger.warning("the search server answered 403: are search.formats: [json] in its settings?")
        if response.status != 200:
            raise _failed(f"refused the question (status {response.status})")
        body = bytearray()
        async for piece in response.content.iter_chunked(64 * 1024):
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise _failed("sent more than can be read")
    return bytes(body)


def _address(server: str) -> str:
    return server if urlsplit(server).path.endswith("/search") else f"{server.rstrip('/')}/search"


def _results(body: bytes) -> list[dict[str, Any]]:
    try:
        answer = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise _failed("sent something that is no list of results", error) from error
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise _failed("sent something that is no list of results")
    return [result for result in results if isinstance(result, dict)]


def _document(result: dict[str, Any]) -> Document | None:
    """None if the result has no valid address."""
    url, published = _text(result, "url"), _text(result, "publishedDate")
    if not url.startswith(("http://", "https://")) or len(url) > LONGEST_URL:
        return None
    return Document(
        number=0,
        document_id=url,
        title=_text(result, "title")[:LONGEST_TITLE] or url,
        contents=_text(result, "content")[:LONGEST_SNIPPET],
        url=url,
        metadata={"published": published[:40]} if published else {},
    )


def _text(result: dict[str, Any], name: str) -> str:
    value = result.get(name)
    return value.strip() if isinstance(value, str) else ""


def _failed(how: str, error: BaseException | None = None) -> ToolFailed:
    logger.warning("the search server %s (%s)", how, type(error).__name__ if error else "as it said")
    return ToolFailed(f"The web search {how}.")
