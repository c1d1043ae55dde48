"""The current_time tool: date and time in a time zone."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from llm_worker.tools.current_time import CARD
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult


class CurrentTime(Tool):
    name = CARD.name
    works_inside_agents = True
    description = "Tells the current date and time."
    guidance = (
        "Call `current_time` when the answer depends on what time it is now. Give the time zone of the place in "
        "question; without one you get UTC."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "timezone": {
                "type": "string",
                "description": "IANA name, such as Europe/Berlin. Left out: UTC.",
            }
        },
    }

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        name = str(arguments.get("timezone") or "UTC").strip()
        return ToolResult(f"{work.now.astimezone(_zone(name)):%A, %Y-%m-%d %H:%M:%S %z} ({name})")


TOOL: Tool = CurrentTime()


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: the name of a folder of zones
        raise ToolFailed(f"There is no time zone {name[:80]!r}; names are like Europe/Berlin.") from error
