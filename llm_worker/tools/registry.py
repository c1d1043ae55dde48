"""The registry of the worker: its tools, as settings.TOOLS lists them. It does not know agents, runs or rows."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from django.conf import settings

from chat.presenters.tools import choosable_tools
from chat.transcript.waits import CallerFunction
from llm_worker.tools.read_file.tool import TOOL as READ_FILE
from llm_worker.tools.research_agent.tool import ResearchAgent
from llm_worker.tools.search_project.tool import TOOL as SEARCH_PROJECT
from llm_worker.tools.tool import Tool


def _load_choosable() -> dict[str, Tool]:
    """Load the tools that agents and sessions can choose. Agent tools get those that work inside them."""
    loaded: list[Tool] = [import_module(f"{package}.tool").TOOL for package in settings.TOOLS]
    inner = [tool for tool in loaded if tool.works_inside_agents]
    return {
        tool.name: ResearchAgent(inner) if isinstance(tool, ResearchAgent) else tool
        for tool in loaded
        if tool.name in choosable_tools()
    }


TOOLS = _load_choosable()
# The tools that a run is offered depending on its files and knowledge bases (llm_worker/loading).
PROJECT_TOOLS: tuple[Tool, ...] = (READ_FILE, SEARCH_PROJECT)


def select_tools(names: Iterable[str]) -> list[Tool]:
    """Return the available tools of these names, sorted by name; unknown names are ignored."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]


def add_source_tools(chosen: Iterable[Tool], sources: tuple[Tool, ...]) -> Sequence[Tool]:
    """Add tools that search and read the files and bases of the run, also to the chosen agent tools."""
    if not sources:
        return list(chosen)
    searching = (_with_sources(tool, sources) if isinstance(tool, ResearchAgent) else tool for tool in chosen)
    return [*searching, *sources]


@cache
def _with_sources(agent: ResearchAgent, sources: tuple[Tool, ...]) -> Tool:
    return agent.with_sources(sources)


class CallerTool(Tool):
    """A tool of the caller, as it is offered to a model. No call of it runs here."""

    is_callers = True

    def __init__(self, function: CallerFunction) -> None:
        self.name = function.name
        self.description = function.description
        self.parameters = function.parameters


def add_caller_tools(tools: Sequence[Tool], functions: Sequence[CallerFunction]) -> list[Tool]:
    """Return the tools with the caller's, which stand in the place of others of their names."""
    names = {function.name for function in functions}
    return [*(tool for tool in tools if tool.name not in names), *map(CallerTool, functions)]
