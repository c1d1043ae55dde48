"""Tells what an error of the SDK means for the call: whether it may have run, in a sentence of ours. Uses the SDK."""

from http import HTTPStatus
from typing import Final

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED
from pydantic import ValidationError

from features.mcp.client.configuration import (
    SIGN_IN_NEEDED,
    UNREADABLE,
    CallFailed,
    CallLost,
    ServerUnavailable,
)
from features.mcp.client.http import LOST, NOT_SENT, SESSION_FORGOTTEN, HttpServer
from features.mcp.client.stdio import StdioServer

MAX_MESSAGE_CHARACTERS: Final = 1_000
# Messages of the SDK, some of them beginnings: the connection ended (servers use its error code too); the answer broke
# off, or is none of the protocol, although the call may have run; it was redirected; the status is none of the protocol's.
_CLOSED: Final = "Connection closed"
_BROKEN_OFF: Final = "SSE stream "
_NOT_ALLOWED: Final = (UNREADABLE, "Unexpected content type", "server answered a request with 202")
_REDIRECTED: Final = "Redirect to "
_ERROR_RESPONSE: Final = "Server returned an error response"
_ENDED: Final = "The connection to the server ended."
_NO_ANSWER: Final = "The server answered what the protocol does not allow."
_MOVED: Final = "The server is at another address."
_NO_PROTOCOL: Final = "The server does not speak the protocol."


class ConnectionEnded(CallLost):
    """The connection cannot be used any more."""


def failure_of(error: Exception, server: StdioServer | HttpServer) -> Exception:
    """Return the outcome of a call that ended with this error, to be raised."""
    if isinstance(error, MCPError):
        return _answered(error, server)
    if isinstance(error, RuntimeError | ValidationError):
        # The messages of these errors repeat what the server sent.
        return CallLost(_NO_ANSWER)
    return _ended(server)


def unavailable_of(error: BaseException, server: StdioServer | HttpServer) -> ServerUnavailable:
    """Return why a server cannot be used whose first answers ended with this error."""
    first = _first(error)
    if isinstance(server, StdioServer):
        # What a ValidationError says is about the SDK.
        message = "" if isinstance(first, ValidationError) else str(first)[:MAX_MESSAGE_CHARACTERS]
        return ServerUnavailable(server.problem or _NO_PROTOCOL, server.detail or message)
    detail = f"Its status was {server.status}." if 400 <= server.status < LOST else server.redirect
    problem = _MOVED if server.redirect else SIGN_IN_NEEDED if server.wants_sign_in else _NO_PROTOCOL
    return ServerUnavailable(server.problem or problem, detail, needs_sign_in=server.needs_sign_in)


def _answered(error: MCPError, server: StdioServer | HttpServer) -> Exception:
    message = error.error.message
    if isinstance(server, HttpServer) and (outcome := _told_by_http(message, server)):
        return outcome
    if server.problem or (error.error.code == CONNECTION_CLOSED and message == _CLOSED):
        return _ended(server)
    if message.startswith(_BROKEN_OFF):
        return CallLost(_ENDED)
    if message.startswith(_NOT_ALLOWED):
        return CallLost(_NO_ANSWER)
    has_failed = isinstance(server, HttpServer) and server.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return (CallLost if has_failed else CallFailed)(message[:MAX_MESSAGE_CHARACTERS])


def _told_by_http(message: str, server: HttpServer) -> Exception | None:
    """Return the outcome that the status of the answer tells; None: it tells none."""
    if message == SESSION_FORGOTTEN:
        return ServerUnavailable(SESSION_FORGOTTEN)
    if message.startswith(_REDIRECTED):
        return ServerUnavailable(_MOVED, server.redirect)
    return _refused(server) if message == _ERROR_RESPONSE else None


def _refused(server: HttpServer) -> Exception:
    if server.status == NOT_SENT:
        return ServerUnavailable(server.problem)
    if server.status == LOST:
        return CallLost(server.problem)
    if server.status == HTTPStatus.UNAUTHORIZED:
        return ServerUnavailable(server.problem or SIGN_IN_NEEDED, needs_sign_in=True)
    if server.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return CallFailed(f"The server refused the call (status {server.status}).")
    return CallLost(f"The server failed (status {server.status}).")


def _ended(server: StdioServer | HttpServer) -> ConnectionEnded:
    return ConnectionEnded(server.problem or _ENDED)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
