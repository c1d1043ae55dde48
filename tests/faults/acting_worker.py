"""An llm worker with an additional tool `act` that must not run twice; each run is one request to the search server.

python -m tests.faults.acting_worker -A config worker …
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
from celery.__main__ import main
from celery.signals import worker_init
from django.conf import settings

from chat.transcript.tool_annotations import Annotations
from llm_worker.tools.tool import Tool, ToolContext, ToolResult


class Act(Tool):
    name = "act"
    description = "Does something that must not be done twice."
    guidance = "Call it when a test does."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
    annotations = Annotations()

    async def run(self, arguments: Mapping[str, Any], _work: ToolContext) -> ToolResult:
        asked = {"q": f"act {arguments.get('what', '')}", "format": "json"}
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{settings.WEB_SEARCH_URL}/search", params=asked) as answer,
        ):
            await answer.read()
        return ToolResult("Done.")


@worker_init.connect
def register(**_: object) -> None:
    from llm_worker.tools import TOOLS  # needs the settings

    TOOLS[Act.name] = Act()


if __name__ == "__main__":
    main()
