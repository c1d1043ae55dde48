"""Sessions that a server forgets: opened once anew, in whatever words it says so, and never for a call that may have run."""

import json
from typing import Any

import pytest
from aiohttp import web

from features.mcp.client.configuration import Answer, CallFailed, CallLost, ServerUnavailable
from features.mcp.client.http import forgets_session
from tests.features.mcp.client.scripted_http import error, result

pytestmark = [pytest.mark.e2e]

BAD_REQUEST = json.dumps({"jsonrpc": "2.0", "id": None, **error("Bad Request: No valid session ID provided")})
FORGOTTEN = [
    (400, "application/json", BAD_REQUEST),
    (400, "text/plain", "Invalid or missing session ID"),
    (400, "text/plain", "Bad Request: Server not initialized"),
    (400, "text/plain", "No transport found for sessionId"),
    (400, "text/plain", "Bad Request: Mcp-Session-Id header is required"),
    (404, "text/plain", ""),
    (410, "text/plain", "gone"),
    (500, "application/json", '{"detail": "unknown session 5"}'),
    (500, "text/plain", "Internal Server Error: Invalid or missing session ID"),
    (410, "application/json", json.dumps({"jsonrpc": "2.0", "id": None, **error("gone")})),
    (200, "text/event-stream", 'event: message\ndata: {"error":"Session not found"}\n\n'),
    (200, "application/json", json.dumps({"jsonrpc": "2.0", "id": None, **error("Session not found")})),
]


def say(status: int, kind: str, text: str) -> web.Response:
    return web.Response(status=status, content_type=kind, text=text)


@pytest.mark.parametrize("answer", FORGOTTEN, ids=lambda answer: f"{answer[0]} {answer[2][:30]}")
async def test_a_forgotten_session_is_opened_once_anew_and_the_call_made_there(client, scripted, answer):
    server, configuration = await scripted(lambda _: result("first"))
    assert await client.call(configuration, "act") == Answer("first")
    server.answer = lambda _: result("second") if server.session > 1 else say(*answer)
    assert await client.call(configuration, "act") == Answer("second")
    assert (server.session, len(server.calls)) == (2, 3)


async def test_a_server_that_forgets_each_session_is_asked_twice_and_says_so(client, scripted):
    server, configuration = await scripted(lambda _: result("first"))
    await client.call(configuration, "act")
    server.answer = lambda _: say(*FORGOTTEN[0])
    with pytest.raises(ServerUnavailable, match="forgotten the session"):
        await client.call(configuration, "act")
    assert (server.session, len(server.calls)) == (2, 3)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, '{"jsonrpc": "2.0", "id": 1, "result": {"content": "Session not found"}}'),
        (200, '{"jsonrpc": "2.0", "id": 1, "result": "Session not found", "error": "Session not found"}'),
        (200, '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "Session terminated"}}'),
        (404, '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}'),
        (400, '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Unknown tool"}}'),
        (500, "Internal Server Error"),
        (503, "Too many sessions"),
        (500, "The database session has expired."),
        (500, '{"error": {"code": -32603, "message": "Paid, but the session was not found"}}'),
        (429, ""),
    ],
)
def test_what_is_no_word_of_the_session_ends_the_call_and_no_session(status, body):
    assert not forgets_session(status, body.encode())


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda: say(400, "text/plain", "no transport"), CallFailed),
        (lambda: say(500, "text/plain", "oops"), CallLost),
        (lambda: say(200, "text/html", "<h1>Log in</h1>"), CallLost),
        (lambda: say(202, "text/plain", ""), CallLost),
        (lambda: say(200, "text/event-stream", ": nothing\n\n"), CallLost),
    ],
    ids=["400", "500", "a page", "202", "a stream that ends"],
)
async def test_whatever_fails_twice_is_tried_over_another_connection(client, scripted, answer, outcome):
    server, configuration = await scripted(lambda _: result("first"))
    await client.call(configuration, "act")
    server.answer = lambda _: result("second") if server.session > 1 else answer()
    for _ in range(2):
        with pytest.raises(
            outcome, match=r"^The (server|connection to the server) [a-z ]+(\(status \d+\))?\.$"
        ):
            await client.call(configuration, "act")
        assert len(server.calls) < 4
    assert await client.call(configuration, "act") == Answer("second")


async def test_errors_of_a_tool_keep_the_connection_however_many_they_are(client, scripted):
    server, configuration = await scripted(lambda _: error("no such note"))
    for _ in range(4):
        with pytest.raises(CallFailed, match="no such note"):
            await client.call(configuration, "act")
    assert server.session == 1


async def test_staff_read_where_a_server_redirects_to(client, scripted):
    async def redirect(_: str) -> Any:
        raise web.HTTPTemporaryRedirect("https://mcp.example.com/v2?key=secret")

    server, configuration = await scripted(lambda _: result("first"))
    server.before = redirect
    with pytest.raises(ServerUnavailable, match="at another address") as unavailable:
        await client.connections.list_tools(configuration)
    assert unavailable.value.detail == "It redirects to https://mcp.example.com/v2."
