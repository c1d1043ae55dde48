"""The schemas of tools as model servers take them, and how many tokens they cost. Pure; the registry is not known here."""

from collections.abc import Sequence
from typing import Any

import msgspec

from chat.transcript.tokens import count_tokens
from llm_worker.tools.tool import Tool


def tool_schemas(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The `tools` of a request, sorted by name: the order is part of what model servers cache."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


def schema_tokens(tools: Sequence[Tool]) -> int:
    """What the schemas take of the window, in the default encoding."""
    return count_tokens(msgspec.json.encode(tool_schemas(tools)).decode()) if tools else 0
