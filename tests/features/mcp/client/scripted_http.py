"""MCP servers over HTTP whose answers a test decides."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web


async def _nothing(_: str) -> None:
    pass


class Scripted:
    """An MCP server of revision 2025-11-25 over HTTP, whose answers a test decides."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        self.answer = answer
        self.calls: list[dict[str, Any]] = []
        self.session = 0
        # Awaited with the text of each message before it is answered.
        self.before: Callable[[str], Awaitable[object]] = _nothing

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        await self.before(await request.text())
        if "id" not in message:
            return web.Response(status=202)
        if message["method"] == "server/discover":
            return web.json_response(
                {"jsonrpc": "2.0", "id": message["id"], **error("Method not found", -32601)}
            )
        if message["method"] == "initialize":
            self.session += 1
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            return web.json_response(answer, headers={"mcp-session-id": str(self.session)})
        self.calls.append(message)
        given = self.answer(message)
        if isinstance(given, web.StreamResponse):
            return given
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], **given})


class ScriptedModern(Scripted):
    """One that knows revision 2026-07-28 alone. answer: to all that has an id."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        self.calls.append(message["method"])
        if message["method"] == "initialize" or "id" not in message:
            return web.Response(status=400)
        given = self.answer(message)
        if isinstance(given, web.StreamResponse):
            return given
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], **given})


def result(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}]}}


def error(message: str, code: int = -32000) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
