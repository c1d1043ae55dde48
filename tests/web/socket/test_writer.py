"""The writer of a socket's outbox tells the end of a connection from a failure."""

import asyncio

import pytest
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from web.socket.connection import OutboxWriter, Send
from web.socket.outbox import Outbox

pytestmark = pytest.mark.pure


async def _unused_application(scope, receive, send) -> None:
    raise AssertionError("no request reaches the application")


async def _failures_of(send: Send) -> list[str]:
    """Return the reported failures of a writer whose first frame is given to `send`."""
    outbox, failures = Outbox(), []
    writer = OutboxWriter(outbox, send, lambda: None, lambda: failures.append("failure"))
    outbox.put(b"{}")
    await writer.finish()
    return failures


def _raising(error: Exception) -> Send:
    async def send(message) -> None:
        raise error

    return send


def test_a_client_that_is_gone_is_no_failure(caplog):
    assert asyncio.run(_failures_of(_raising(ConnectionResetError()))) == []
    assert caplog.records == []


def test_a_connection_that_the_web_server_closed_by_itself_is_no_failure(caplog):
    async def after_a_refused_frame() -> list[str]:
        connection = WebSocketsSansIOProtocol(Config(_unused_application), ServerState(), {})
        connection.handshake_complete = connection.close_sent = True
        return await _failures_of(connection.send)

    assert asyncio.run(after_a_refused_frame()) == []
    assert [record for record in caplog.records if record.name == "web.socket.connection"] == []


def test_any_other_error_is_logged_and_reported(caplog):
    assert asyncio.run(_failures_of(_raising(RuntimeError("unexpected")))) == ["failure"]
    assert "cannot be written to" in caplog.text
