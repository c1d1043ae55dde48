"""A tool whose behaviour a test scripts, and which records its calls. Registered by a fixture."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from chat.transcript.tools import READ_ONLY, Annotations
from llm_worker.tools.tool import Tool, ToolContext, ToolResult


class ScriptedTool(Tool):
    """hangs: how many of its calls, the first ones, never return; the others say what `says` makes of the arguments.

    ran: the arguments of every call. A call whose arguments hold "wait" returns when `released` is set.
    """

    name = ""
    description = "Does what a test scripts."
    guidance = "Call it when a test does."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
    annotations: Annotations = READ_ONLY
    time_limit_s: float | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.hangs = 0
        self.says: Callable[[Mapping[str, Any]], str] = lambda arguments: f"did {arguments.get('what')}"
        self.ran: list[Mapping[str, Any]] = []
        self.left = 0
        self.released = threading.Event()

    async def run(self, arguments: Mapping[str, Any], _work: ToolContext) -> ToolResult:
        self.ran.append(arguments)
        try:
            if len(self.ran) <= self.hangs:
                await asyncio.Event().wait()
            if arguments.get("what") == "wait":
                await self._release()
        except asyncio.CancelledError:
            self.left += 1
            raise
        return ToolResult(self.says(arguments))

    async def _release(self) -> None:
        while not self.released.is_set():  # noqa: ASYNC110  set by another thread
            await asyncio.sleep(0.005)
