"""An llm worker with an additional tool `act` that must not run twice; each run is one request to the search server.

python -m tests.faults.acting_worker -A config worker …
"""

from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
from celery.__main__ import main
from celery.signals import worker_init
from django.conf import settings

from llm_worker.tools.tool import ToolContext, ToolResult


class Act:
    name = "act"
    description = "Does something that must not be done twice."
    guidance = "Call it when a test does."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
    searches = False
    merges = False
    is_idempotent = False
    time_limit_s: float | None = None

    def is_available(self) -> bool:
        return True

    def merge(self, _arguments: Sequence[Mapping[str, Any]]) -> None:
        return None

    def count_searches(self, _arguments: Mapping[str, Any]) -> int:
        return 0

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
