"""An llm worker with more tools, `act` that must not run twice, `note` that may, and `draw` that returns a picture; each run is one request to the search server.

python -m tests.faults.acting_worker -A config worker …
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
from celery.__main__ import main
from celery.signals import worker_init
from django.conf import settings

from chat.transcript.tools import Annotations
from llm_worker.tools.tool import Tool, ToolContext, ToolResult
from tests.dot import DOT


class Act(Tool):
    """Tells the search server its name, the argument, and the key of the call."""

    name = "act"
    description = "Does something that must not be done twice."
    guidance = "Call it when a test does."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
    annotations = Annotations()

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        asked = {"q": f"{self.name} {arguments.get('what', '')} {work.key}", "format": "json"}
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{settings.WEB_SEARCH_URL}/search", params=asked) as answer,
        ):
            await answer.read()
        return ToolResult("Done.")


class Note(Act):
    name = "note"
    annotations = Annotations(is_idempotent=True)


class Draw(Act):
    name = "draw"
    annotations = Annotations(is_read_only=True)

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        await super().run(arguments, work)
        return ToolResult("Drawn.", images=(DOT,))


@worker_init.connect
def register(**_: object) -> None:
    from llm_worker.tools.registry import TOOLS  # needs the settings

    TOOLS[Act.name] = Act()
    TOOLS[Note.name] = Note()
    TOOLS[Draw.name] = Draw()


if __name__ == "__main__":
    main()
