"""The registry of tools. Adding a tool takes one file in this folder and one line here.

Does not know agents, runs or rows.
"""

from collections.abc import Iterable

from llm_worker.tools.current_time import CurrentTime
from llm_worker.tools.read_file import ReadFile
from llm_worker.tools.research_agent import ResearchAgent
from llm_worker.tools.search_project import SearchProject
from llm_worker.tools.tool import Tool
from llm_worker.tools.web_search import WebSearch

_PLAIN: tuple[Tool, ...] = (
    CurrentTime(),
    WebSearch(),
)
_AGENTS: tuple[Tool, ...] = (ResearchAgent(tools=_PLAIN),)
# Those that agents and sessions choose.
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_PLAIN, *_AGENTS)}
# Those that a run is offered by what it has (llm_worker/loading).
SEARCH_PROJECT: Tool = SearchProject()
READ_FILE: Tool = ReadFile()


def select_tools(names: Iterable[str]) -> list[Tool]:
    """The available tools of these names, sorted by name; unknown names are ignored."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]
