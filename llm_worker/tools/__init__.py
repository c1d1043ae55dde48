"""The tools of this deployment. Adding one is a file in this folder and a line here; refuses to know agents."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from chat.transcript.tokens import count_tokens
from llm_worker.tools.current_time import CurrentTime
from llm_worker.tools.research_agent import ResearchAgent
from llm_worker.tools.tool import Tool
from llm_worker.tools.web_search import WebSearch

_PLAIN: tuple[Tool, ...] = (
    CurrentTime(),
    WebSearch(),
)
_AGENTS: tuple[Tool, ...] = (ResearchAgent(tools=_PLAIN),)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_PLAIN, *_AGENTS)}


def offered(names: Iterable[str]) -> list[Tool]:
    """The tools of these names that are there and available, sorted by name."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]


def schemas(tools: Sequence[Tool]) -> list[dict[str, Any]]:
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
    return count_tokens(msgspec.json.encode(schemas(tools)).decode()) if tools else 0
