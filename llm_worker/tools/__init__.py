"""The tools of this deployment. Adding one is a file in this folder and a line here; refuses to know agents."""

from collections.abc import Iterable

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


def select_tools(names: Iterable[str]) -> list[Tool]:
    """The tools of these names that are there and available, sorted by name."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]
