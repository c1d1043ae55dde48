"""Builds the API schemas of tools and counts their tokens. Pure; does not know the registry."""

from collections.abc import Sequence
from typing import Any

import msgspec

from llm_worker.request.parameter_schema import accepted_schema
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.tools.tool import Tool


def tool_schemas(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Build the `tools` of a request, sorted by name: the order is part of the prefix that servers cache."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": accepted_schema(tool.parameters),
            },
        }
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


def schema_tokens(tools: Sequence[Tool]) -> int:
    """Count the tokens of the schemas in the default encoding, once in a process for each choice of tools."""
    return estimate_tokens(msgspec.json.encode(tool_schemas(tools)).decode(), 0) if tools else 0
