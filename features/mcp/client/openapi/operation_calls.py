"""Reads OpenAPI documents and calls their operations, over the guarded client: each address and redirect is checked.

The headers and the query of the row are sent to one origin: that of the row's base_url, else of the document's address. A document
that was read from there does not decide who gets them.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from django.conf import settings

from features.mcp.client.configuration import (
    Answer,
    CallLost,
    Configuration,
    ServerUnavailable,
    values_of,
)
from features.mcp.client.openapi.api_document import MAX_DOCUMENT_BYTES, DocumentRefused, read_document
from features.mcp.client.openapi.api_operations import Base, Operations, read_operations
from features.mcp.client.openapi.operation_http import Received, build_request, read_answer, with_query
from knowledge.fetching.guarded_client import (
    GuardedRequest,
    GuardedResponse,
    RequestLimits,
    Resolver,
    resolve_host,
    send,
)
from knowledge.fetching.target import UrlRefused, parse_target

# Enough for the text that a model is told, in any script.
_MAX_ANSWER_BYTES: Final = 1024 * 1024
_DOCUMENT_LIMITS: Final = RequestLimits(max_bytes=MAX_DOCUMENT_BYTES)
# A call that takes too long is ended by its own time limit.
_CALL_LIMITS: Final = RequestLimits(max_bytes=_MAX_ANSWER_BYTES, connect_s=10.0, read_s=3_600.0, total_s=None)
_DOCUMENT_TYPES: Final = "application/json, application/yaml, text/yaml, */*;q=0.5"
_NO_HEADER: Final = "The server is not set up: the value of a header cannot be sent."


class ApiSource(NamedTuple):
    """A document. url: its address; empty: it was pasted, as `document`.  chosen: the operations that come first."""

    url: str
    document: str
    base_url: str
    chosen: Collection[str]


async def list_operations(
    configuration: Configuration, source: ApiSource, resolve: Resolver = resolve_host
) -> Operations:
    """Return the operations that may be reached, as read_operations does. Raises ServerUnavailable."""
    content: bytes | str = source.document
    if source.url:
        request = GuardedRequest(source.url, headers={"Accept": _DOCUMENT_TYPES})
        content, read_at = await _fetch(_with_own(request, configuration), resolve)
        source = source._replace(url=read_at)
    own = frozenset(_own_parameters(configuration))
    try:
        found = await asyncio.to_thread(_read, content, source, own)
    except DocumentRefused as refused:
        raise ServerUnavailable(str(refused)) from refused
    origins = {tool["tool"]: _origin(tool["operation"]["url"]) for tool in found.tools}
    reached = [tool for tool in found.tools if origins[tool["tool"]]]
    if not reached:
        raise ServerUnavailable("The document's operations are at addresses that are not reached.")
    if own and configuration.url and _origin(configuration.url) not in origins.values():
        elsewhere = origins[reached[0]["tool"]]
        raise ServerUnavailable(
            f"The operations are on another host than the document, {elsewhere}: enter it as base_url to have headers and query sent there."
        )
    unreached = {name: "its address is not reached" for name, origin in origins.items() if not origin}
    return Operations(reached, found.left_out | unreached)


async def call_operation(
    configuration: Configuration,
    operation: Mapping[str, Any],
    arguments: Mapping[str, Any],
    key: str,
    resolve: Resolver = resolve_host,
) -> Answer:
    """Call an operation of a listed tool. `key`: identifies the call; the same if it is made again.
    Raises ServerUnavailable if the server has not executed anything, CallFailed, CallLost.
    """
    request = build_request(operation, arguments)
    key_header = {} if request.method in ("GET", "HEAD") else {"Idempotency-Key": key}
    request = _with_own(replace(request, headers={**request.headers, **key_header}), configuration)
    try:
        async with send(request, _CALL_LIMITS, resolve) as response:
            received = await _receive(response)
    except UrlRefused as refused:
        if refused.was_sent:
            raise CallLost(f"The server did not answer ({refused.code}).") from refused
        raise ServerUnavailable(f"The server cannot be reached ({refused.code}).") from refused
    except ValueError as error:
        raise ServerUnavailable(_NO_HEADER) from error
    return read_answer(received)


def _own_parameters(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Yield where, and the name of what all calls have anyway, which is no argument of theirs."""
    yield from (("header", name.lower()) for name, _ in configuration.headers)
    yield from (("query", name) for name, _ in configuration.query)


def _read(content: bytes | str, source: ApiSource, own: Collection[tuple[str, str]]) -> Operations:
    """Read the operations of a document. Raises DocumentRefused."""
    document = read_document(content)
    return read_operations(document, Base(source.base_url, source.url), source.chosen, own)


async def _fetch(request: GuardedRequest, resolve: Resolver) -> tuple[bytes, str]:
    """Return a document, and the address that redirects led to. Raises ServerUnavailable.
    Addresses in the document are relative to that address (RFC 3986, section 5.1.3).
    """
    try:
        async with send(request, _DOCUMENT_LIMITS, resolve) as response:
            if response.status != 200:
                raise ServerUnavailable(f"The document cannot be read (status {response.status}).")
            return await response.read(), response.url
    except UrlRefused as refused:
        raise ServerUnavailable(f"The document cannot be read ({refused.code}).", str(refused)) from refused
    except ValueError as error:
        raise ServerUnavailable(_NO_HEADER) from error


async def _receive(response: GuardedResponse) -> Received:
    """Receive the content, or its beginning. Raises CallLost if none can be read, unless the server has refused."""
    content, is_cut = bytearray(), False
    try:
        async for piece in response.pieces():
            content += piece
    except UrlRefused as refused:
        if not content and not 400 <= response.status < 500:
            raise CallLost(f"The server's answer cannot be read ({refused.code}).") from refused
        is_cut = bool(content)
    return Received(response.status, response.headers.get("Content-Type", ""), bytes(content), is_cut)


def _with_own(request: GuardedRequest, configuration: Configuration) -> GuardedRequest:
    """Return the request with the headers and the query of the row; as it is if its origin is another one.
    Raises ServerUnavailable for a variable that this process does not have.
    """
    if configuration.url and _origin(request.url) != _origin(configuration.url):
        return request
    url = with_query(request.url, values_of(configuration.query).items())
    return replace(request, url=url, headers={**request.headers, **values_of(configuration.headers)})


def _origin(url: str) -> str:
    """Return the origin of an address; empty: the address is never requested."""
    try:
        return parse_target(url, settings.URL_ALLOWED_HOSTS).origin
    except UrlRefused:
        return ""
