"""A client of MCP servers for tests: the connections of a worker, and what they told."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any, Final

import httpx2
from django import test
from django.contrib.auth.models import User

from chat.models import McpServer
from chat.transcript.questions import Answered
from features.mcp.client.configuration import Answer, Caller, Configuration
from features.mcp.client.connections import Connections
from tests import factories
from tests.features.mcp.worker_tasks import advance_mcp_sign_in, list_mcp_tools

# A call of the tool of tests/mcp_oauth_server.py.
TIDE: Final = {"call": {"name": "harbour__tide", "arguments": {"place": "Sole"}}}


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        for _ in iter(lambda: bool(condition()), True):
            await asyncio.sleep(0.02)


def stdio(*command: str) -> Configuration:
    """How Python runs a server with these arguments, and with the fixture `journal`."""
    env = (("JOURNAL", "JOURNAL"), ("PYTHONPATH", "WORKER_ROOT"))
    return Configuration("id", "1", "tests", (sys.executable, *command), "", env, ())


class Client:
    """Connections, and what they told of progress and of changed lists. answers: to what servers ask; None: nobody can be asked."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.steps: list[tuple[float, float | None, str]] = []
        self.answers: tuple[Answered, ...] | None = ()
        self.connections = Connections(self.changed.append)

    async def call(self, server: Configuration, tool: str, **arguments: Any) -> Answer:
        return await self.connections.call(
            server, tool, arguments, Caller("the key", self._show, self.answers)
        )

    async def _show(self, done: float, total: float | None, message: str) -> None:
        self.steps.append((done, total, message))


def sign_in(runtime: Any, server: McpServer, user: User) -> str:
    """What the page says in the end."""
    browser = test.Client()
    browser.force_login(user)
    begun = factories.api_client(user).post(f"/api/mcp-servers/{server.pk}/sign-in/", {}, format="json")
    page = "/" + begun.json()["url"].split("/", 3)[3]
    pk = page.split("/")[3]
    advance_mcp_sign_in(runtime, pk)
    advance_mcp_sign_in(runtime, pk)  # a second delivery
    led = browser.get(page)
    if led.status_code == 302:
        came = come_back(led["Location"])
        assert browser.get(f"/mcp/callback/?{came}")["Location"] == page
        advance_mcp_sign_in(runtime, pk)
        advance_mcp_sign_in(runtime, pk)
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    return browser.get(page).content.decode()


def come_back(address: str) -> str:
    """The query that the browser brings back from there."""
    return httpx2.get(address).headers["Location"].partition("?")[2]
