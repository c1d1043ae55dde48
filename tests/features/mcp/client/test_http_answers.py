"""What becomes of calls over HTTP, by what a scripted server answers: made once, and with the outcome that follows from the answer."""

import asyncio
import re
from typing import Any

import pytest
from aiohttp import web

from features.mcp.client.configuration import (
    Answer,
    CallFailed,
    CallLost,
    NoTokens,
    ServerUnavailable,
)
from features.mcp.client.connections import Connections
from tests.features.mcp.client.client import until
from tests.features.mcp.client.scripted_http import ScriptedModern, error, result

pytestmark = [pytest.mark.e2e]

BROKEN = {"jsonrpc": "2.0", "id": 1, **error("half done", -32603)}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda _: error("no such note"), CallFailed("no such note")),
        (lambda _: error("Session terminated"), CallFailed("Session terminated")),
        (lambda _: error("x" * 9_999), CallFailed("x" * 1_000)),
        (lambda _: web.Response(status=429), CallFailed("The server refused the call (status 429).")),
        (lambda _: web.Response(status=503), CallLost("The server failed (status 503).")),
        (lambda _: web.json_response(BROKEN, status=500), CallLost("half done")),
        (
            lambda _: web.Response(headers={f"X-{number}": "1" for number in range(200)}),
            CallLost("The server did not answer (url_unreachable)."),
        ),
        (
            lambda _: {"result": "receipt 4711"},
            CallLost("The server answered what the protocol does not allow."),
        ),
    ],
    ids=[
        "an error",
        "the words of a lost session",
        "a long error",
        "429",
        "503",
        "an error with 500",
        "no head that can be read",
        "no object",
    ],
)
async def test_what_becomes_of_a_call_follows_from_the_answer_and_it_is_made_once(
    client, scripted, answer, outcome
):
    server, configuration = await scripted(answer)
    with pytest.raises(type(outcome), match=f"^{re.escape(str(outcome))}$"):
        await client.call(configuration, "act")
    assert [message["method"] for message in server.calls] == ["tools/call"]
    server.answer = lambda _: result("again")
    assert await client.call(configuration, "act") == Answer("again")
    assert server.session == 1


async def test_a_session_that_the_server_has_forgotten_is_opened_again_and_the_call_made_there(
    client, scripted
):
    server, configuration = await scripted(lambda _: result("first"))
    assert await client.call(configuration, "act") == Answer("first")

    def answer(_: dict[str, Any]) -> Any:
        if server.session > 1:
            return result("second")
        return web.json_response({"jsonrpc": "2.0", "id": None, **error("Session not found")}, status=404)

    server.answer = answer
    assert await client.call(configuration, "act") == Answer("second")


async def test_an_answer_that_no_schema_allows_is_an_answer_and_what_a_schema_costs_is_not_paid(
    client, scripted
):
    tools = [
        {
            "name": "act",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}},
        }
    ]

    def answer(message: dict[str, Any]) -> Any:
        if message["method"] == "tools/list":
            return {"result": {"tools": tools}}
        return {"result": {"content": [], "structuredContent": {"a": "a" * 40 + "!"}}}

    _, configuration = await scripted(answer)
    await client.connections.list_tools(configuration)
    assert (await client.call(configuration, "act")).text.startswith('{"a": "aaa')


async def test_a_call_that_fails_ends_no_other(client, scripted):
    gate = asyncio.Event()

    def answer(message: dict[str, Any]) -> Any:
        if message["params"]["name"] == "fail":
            return web.Response(body=b"x" * 5_000_000, content_type="application/json")
        return result("slow")

    server, configuration = await scripted(answer)

    async def wait(text: str) -> None:
        if "slow" in text:
            await gate.wait()

    server.before = wait
    slow = asyncio.create_task(client.call(configuration, "slow"))
    await until(lambda: server.session)
    with pytest.raises(CallLost):
        await client.call(configuration, "fail")
    gate.set()
    assert await slow == Answer("slow")


async def test_a_server_of_the_newest_revision_may_leave_out_what_clients_assume(client, scripted):
    """The members that its results must have."""
    results: dict[str, dict[str, Any]] = {
        "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]},
        "tools/call": result("done")["result"],
    }

    def answer(message: dict[str, Any]) -> Any:
        found = results.get(message["method"])
        return error("Method not found", -32601) if found is None else {"result": found}

    server, configuration = await scripted(answer, ScriptedModern)
    listing = await client.connections.list_tools(configuration)
    assert ([tool.name for tool in listing.tools], listing.ttl) == (["act"], None)
    assert await client.call(configuration, "act") == Answer("done")
    assert "initialize" not in server.calls


@pytest.mark.parametrize("redirects", [False, True])
async def test_a_server_of_the_newest_revision_that_wants_a_sign_in_says_so_with_its_first_answer(
    client, scripted, redirects
):
    """It knows no older one, in which the SDK asks next, and says that it does not understand."""

    def answer(_: dict[str, Any]) -> Any:
        if redirects and len(server.calls) == 1:
            return web.Response(status=307, headers={"Location": "/mcp"})
        return web.Response(status=401)

    server, configuration = await scripted(answer, ScriptedModern)
    with pytest.raises(ServerUnavailable) as unavailable:
        await client.connections.list_tools(configuration)
    assert unavailable.value.needs_sign_in
    assert server.calls[-1] == "initialize"


async def test_a_server_that_fails_after_the_token_was_renewed_wants_no_sign_in(scripted):
    """The refused token was only old."""

    class Renewed(NoTokens):
        async def token(self, credential: str, refused: str = "") -> str:
            return "new" if refused else "old"

    server, configuration = await scripted(
        lambda _: web.Response(status=401 if len(server.calls) == 1 else 500), ScriptedModern
    )
    connections = Connections(tokens=Renewed())
    with pytest.raises(ServerUnavailable) as unavailable:
        await connections.list_tools(configuration._replace(credential="held"))
    assert (unavailable.value.needs_sign_in, server.calls[:2]) == (False, ["server/discover"] * 2)
    await connections.close()


async def test_a_server_that_refuses_a_message_it_does_not_know_and_takes_others_wants_no_sign_in(
    client, scripted
):
    server, configuration = await scripted(lambda _: result("done"))

    async def refuse(text: str) -> None:
        if "server/discover" in text:
            raise web.HTTPUnauthorized

    server.before = refuse
    assert await client.call(configuration, "act") == Answer("done")
