"""A client of MCP servers for tests: the connections of a worker, and what they told."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from chat.transcript.questions import Answered
from llm_worker.mcp.configuration import Answer, Caller, Configuration
from llm_worker.mcp.connections import Connections


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
