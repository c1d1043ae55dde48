"""The registry of tools. Adding a tool takes one file in this folder and one line here.

Does not know agents, runs or rows.
"""

from collections.abc import Iterable, Sequence

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
_AGENTS: tuple[ResearchAgent, ...] = (ResearchAgent(tools=_PLAIN),)
# Those that agents and sessions choose.
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_PLAIN, *_AGENTS)}
# Those that a run is offered by what it has (llm_worker/loading).
SEARCH_PROJECT: Tool = SearchProject()
READ_FILE: Tool = ReadFile()
_OF_A_PROJECT: tuple[Tool, ...] = (READ_FILE, SEARCH_PROJECT)
# Agent tools as they are where the files of a project are searched, by name.
_SEARCHING_AGENTS = {agent.name: agent.searching(_OF_A_PROJECT) for agent in _AGENTS}


def select_tools(names: Iterable[str]) -> list[Tool]:
    """The available tools of these names, sorted by name; unknown names are ignored."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]


def add_project_tools(chosen: Iterable[Tool]) -> Sequence[Tool]:
    """With those that search and read the files of a project, for agent tools among them as well."""
    return [*(_SEARCHING_AGENTS.get(tool.name, tool) for tool in chosen), *_OF_A_PROJECT]
