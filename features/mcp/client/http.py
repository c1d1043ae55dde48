"""The HTTP client of servers that are reached by a URL: httpx2 over the guarded client, as the SDK takes it.

Each request resolves the name, checks every address and connects to a checked one. The SDK follows redirects itself,
within the origin alone, as separate requests.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth

from features.mcp.client.configuration import (
    MORE_RIGHTS_NEEDED,
    Configuration,
    ServerUnavailable,
    Tokens,
    values_of,
)
from features.mcp.client.message_limits import MessageLimits
from knowledge.fetching.guarded_client import (
    GuardedRequest,
    GuardedResponse,
    RequestLimits,
    Resolver,
    resolve_host,
    send,
)
from knowledge.fetching.target import UrlRefused

# Of a stream of events, after which the SDK opens another one.
_MAX_STREAM_BYTES: Final = 256 * 1024 * 1024
_CONNECT_S: Final = 10.0
# Until a notification is accepted: the SDK sends nothing else meanwhile.
_NOTICE_S: Final = 10.0
# The status that stands for a message that did not reach the server.
NOT_SENT: Final = 599
# A call was sent, and no answer came.
LOST: Final = 598
SESSION: Final = "mcp-session-id"
SESSION_FORGOTTEN: Final = "The server has forgotten the session."
# Of the address of a redirect that staff are told.
_MAX_LOCATION: Final = 300
# How long a stream may be without events. A call that takes too long is ended by its own time limit.
_SILENCE_S: Final = 3_600.0
_LIMITS: Final = RequestLimits(
    max_bytes=_MAX_STREAM_BYTES, max_redirects=0, connect_s=_CONNECT_S, read_s=_SILENCE_S, total_s=None
)
# Headers of the connection, and headers that no longer apply to an unpacked body.
_DROPPED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
_NOT_SENT: Final = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})


class HttpServer:
    """A server that is reached over HTTP. problem: why messages do not arrive; empty while they do.
    status: of the latest answer to a message.  redirect: where it redirects to, for staff; empty: nowhere.
    """

    def __init__(
        self, configuration: Configuration, tokens: Tokens, resolve: Resolver = resolve_host
    ) -> None:
        self._configuration = configuration
        self._tokens = tokens
        self._resolve = resolve
        self.problem = ""
        self.status = 0
        self._has_accepted = False
        # A message before the latest ended with a refusal: the server knows none of what the SDK asks then in older
        # revisions.
        self._was_refused = False
        self.redirect = ""
        # The user has signed in, but is not allowed to make this request.
        self._lacks_scope = False

    def client(self) -> httpx2.AsyncClient:
        """Create the HTTP client with the headers of the configuration. Raises ServerUnavailable."""
        headers: Mapping[str, str] = values_of(self._configuration.headers)
        return httpx2.AsyncClient(transport=_Transport(self, self._resolve), headers=headers, timeout=None)

    async def token(self, url: httpx2.URL, refused: str = "") -> str:
        """Return the access token for a request to `url`. Raises ServerUnavailable.
        Empty: there is no credential, or the address has another origin than the server.
        """
        own, credential = httpx2.URL(self._configuration.url), self._configuration.credential
        is_own = (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port)
        return await self._tokens.token(credential, refused) if credential and is_own else ""

    async def check_scope(self, response: httpx2.Response) -> None:
        """Check the answer to a request with a token.
        Raises ServerUnavailable if the server demands a scope with which the user should sign in again.
        """
        self._lacks_scope = _lacks_scope(response)
        scope = extract_scope_from_www_auth(response) if self._lacks_scope else None
        if scope and await self._tokens.demand(self._configuration.credential, scope):
            raise ServerUnavailable(MORE_RIGHTS_NEEDED, needs_sign_in=True)

    @property
    def wants_sign_in(self) -> bool:
        return self.status == HTTPStatus.UNAUTHORIZED or (self._was_refused and not self._has_accepted)

    def go_on(self) -> None:
        """Note how the message before ended, since another one follows."""
        self._was_refused |= self.status == HTTPStatus.UNAUTHORIZED

    @property
    def needs_sign_in(self) -> bool:
        return self.wants_sign_in or (self.status == HTTPStatus.FORBIDDEN and not self._lacks_scope)

    def note(self, request: httpx2.Request, status: int, location: str = "") -> None:
        """Record the status of a message (POST). Streams, which servers may refuse to open, say nothing of messages."""
        if request.method == "POST":
            self.status, self.problem = status, ""
            self._has_accepted |= status < HTTPStatus.MULTIPLE_CHOICES
            is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST and location
            self.redirect = (
                f"It redirects to {redirect_target(request.url, location)}." if is_redirect else ""
            )


class _Transport(httpx2.AsyncBaseTransport):
    def __init__(self, server: HttpServer, resolve: Resolver) -> None:
        self._server = server
        self._resolve = resolve

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request with the user's token. Raises nothing: the SDK would end all requests of the connection."""
        if request.method == "POST":
            self._server.go_on()
        try:
            token = await self._server.token(request.url)
            response = await self._send(request, token)
            if response.status_code == HTTPStatus.UNAUTHORIZED and token:
                # The server has done nothing yet.
                await response.aclose()
                token = await self._server.token(request.url, refused=token)
                response = await self._send(request, token)
            if token and request.method == "POST":
                await self._check_scope(response)
        except ServerUnavailable as unavailable:
            status = HTTPStatus.UNAUTHORIZED if unavailable.needs_sign_in else NOT_SENT
            self._server.note(request, status)
            self._server.problem = str(unavailable)
            return httpx2.Response(status)
        return response

    async def _check_scope(self, response: httpx2.Response) -> None:
        try:
            await self._server.check_scope(response)
        except ServerUnavailable:
            await response.aclose()  # the server has done nothing
            raise

    async def _send(self, request: httpx2.Request, token: str) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name not in _NOT_SENT}
        if token:
            headers["authorization"] = f"Bearer {token}"
        body = await request.aread()
        sent = GuardedRequest(str(request.url), request.method, headers, body or None)
        opened = AsyncExitStack()
        try:
            async with asyncio.timeout(None if _waits_for_answer(request.method, body) else _NOTICE_S):
                response = await opened.enter_async_context(send(sent, _LIMITS, self._resolve))
        except (UrlRefused, TimeoutError, ValueError) as error:
            await opened.aclose()
            refused = error if isinstance(error, UrlRefused) else UrlRefused("timeout")
            is_lost = refused.was_sent and _read_message(body).get("method") == "tools/call"
            status, problem = (LOST, "did not answer") if is_lost else (NOT_SENT, "cannot be reached")
            self._server.note(request, status)
            self._server.problem = f"The server {problem} ({refused.code})."
            return httpx2.Response(status)
        self._server.note(request, response.status, response.headers.get("Location", ""))
        body_stream = _Body(self._server, opened, response)
        is_in_session = SESSION in request.headers and request.method == "POST"
        if is_in_session and _waits_for_answer(request.method, body) and await body_stream.forgets_session():
            await opened.aclose()
            return _forgotten()
        kept = [
            (name.encode("latin-1", "replace"), value.encode("utf-8", "surrogateescape"))
            for name, value in response.headers.items()
            if name.lower() not in _DROPPED
        ]
        return httpx2.Response(response.status, headers=kept, stream=body_stream)


def _lacks_scope(response: httpx2.Response) -> bool:
    """Return whether the answer is the error `insufficient_scope` (RFC 6750, section 3.1)."""
    is_forbidden = response.status_code == HTTPStatus.FORBIDDEN
    return is_forbidden and extract_field_from_www_auth(response, "error") == "insufficient_scope"


def _waits_for_answer(method: str, body: bytes) -> bool:
    """Return whether the answer may take as long as a tool: notifications are accepted at once."""
    if method != "POST":
        return True
    message = _read_message(body)
    return "id" in message and "method" in message


def _read_message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _forgotten() -> httpx2.Response:
    """Return the answer by which the connection learns that this message was not executed."""
    error = {"code": -32600, "message": SESSION_FORGOTTEN}
    return httpx2.Response(HTTPStatus.NOT_FOUND, json={"jsonrpc": "2.0", "id": None, "error": error})


def redirect_target(url: httpx2.URL, location: str) -> str:
    """Return where an answer of `url` redirects to, for people: without what may be a secret."""
    try:
        target = url.join(location).copy_with(userinfo=b"", query=None, fragment=None)
    except (httpx2.InvalidURL, ValueError):
        return "what is no address"
    return str(target)[:_MAX_LOCATION]


class _Body(httpx2.AsyncByteStream):
    def __init__(self, server: HttpServer, opened: AsyncExitStack, response: GuardedResponse) -> None:
        self._server = server
        self._opened = opened
        self._response = response
        self._pieces = response.pieces()
        self._head = b""

    async def forgets_session(self) -> bool:
        """Return whether the answer says that the session is not known. Waits for its first piece; errors for more."""
        is_error = self._response.status >= HTTPStatus.BAD_REQUEST
        try:
            async with asyncio.timeout(_NOTICE_S if is_error else None):
                async for piece in self._pieces:
                    self._head += piece
                    if not is_error or len(self._head) > MAX_ERROR_BYTES:
                        break
        except (UrlRefused, aiohttp.ClientError, OSError):
            pass  # TimeoutError is an OSError; what is missing fails again when the body is read
        return forgets_session(self._response.status, self._head[:MAX_ERROR_BYTES])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        kind = self._response.headers.get("Content-Type", "").lower()
        limits = MessageLimits(is_stream=kind.startswith("text/event-stream"))
        try:
            async for piece in self._all_pieces():
                if problem := limits.take(piece):
                    self._server.problem = problem
                    raise httpx2.StreamError(problem)
                yield piece
        except (UrlRefused, aiohttp.ClientError, OSError) as error:
            raise httpx2.StreamError("The answer was cut off.") from error

    async def _all_pieces(self) -> AsyncIterator[bytes]:
        if self._head:
            yield self._head
        async for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        await self._opened.aclose()


# Of an answer, in which the error is looked for.
MAX_ERROR_BYTES: Final = 16 * 1024
_FORGOTTEN: Final = re.compile(
    r"session[^.]{0,80}\b(not found|unknown|invalid|missing|expired|required|(no longer|does not|doesn't) exist)"
    r"|not initiali[sz]ed|before initiali[sz]ation"
    r"|\b(no|unknown|invalid|missing|expired|stale)\b[^.]{0,40}\bsession",
    re.IGNORECASE,
)
# A server that fails may have executed the call, and sessions of databases expire as well: there, the message begins so.
_BEGINNING: Final = re.compile(
    r"((error|bad request|not found|internal( server)? error): )?(mcp[ -])?"
    r"(session|(no|unknown|invalid|missing|expired|stale)( or \w+)?( valid)? (mcp[ -])?session)",
    re.IGNORECASE,
)
_MEMBERS: Final = {"result", "method"}
_TEXTS: Final = ("error", "message", "detail")


def forgets_session(status: int, head: bytes) -> bool:
    """Return whether the answer says that the server has forgotten the session: then nothing was executed.

    head: the beginning of its body. The protocol has 404 for that (2025-11-25, Transports, Session Management). Servers
    answer 400, 410 or 500 as well, or an error in a 200. A status of 200 counts with an error alone: a result may have anything to do with sessions.
    """
    text = head.decode("utf-8", "replace")
    answer = _json(text)
    if status < HTTPStatus.BAD_REQUEST:
        is_error = isinstance(answer, dict) and not answer.keys() & _MEMBERS
        return is_error and bool(_FORGOTTEN.search(_message(answer)))
    message = _message(answer) if isinstance(answer, dict) else text
    says_so = bool(_FORGOTTEN.search(message))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return says_so and bool(_BEGINNING.match(message.strip()))
    # A protocol's error with 404 may be about a method that is not known.
    is_about_session = status == HTTPStatus.GONE or (
        status == HTTPStatus.NOT_FOUND and not _is_error_of_protocol(answer)
    )
    return is_about_session or says_so


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    members = error if isinstance(error, dict) else answer
    return next((members[name] for name in _TEXTS if isinstance(members.get(name), str)), "")


def _is_error_of_protocol(answer: Any) -> bool:
    error = answer.get("error") if isinstance(answer, dict) else None
    return isinstance(error, dict) and "code" in error


def _json(text: str) -> Any:
    """Parse a body: JSON, or the first event of a stream."""
    if not text.lstrip().startswith("{"):
        text = "\n".join(line[5:] for line in text.splitlines() if line.startswith("data:"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
