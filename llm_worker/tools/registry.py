"""The registry of tools. Adding a tool takes one file in this folder and one line here.

It does not know agents, runs or rows.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from llm_worker.tools.ask_user import AskUser
from llm_worker.tools.current_time import CurrentTime
from llm_worker.tools.knowledge_base_search import KnowledgeBaseSearch, RestrictedSearch
from llm_worker.tools.open_url import OpenUrl
from llm_worker.tools.read_file import ReadFile
from llm_worker.tools.research_agent import ResearchAgent
from llm_worker.tools.search_project import SearchProject
from llm_worker.tools.tool import Tool
from llm_worker.tools.web_search import WebSearch

_PLAIN: tuple[Tool, ...] = (
    CurrentTime(),
    WebSearch(),
    OpenUrl(),
)
_AGENTS: tuple[ResearchAgent, ...] = (ResearchAgent(tools=_PLAIN),)
# The tools that agents and sessions can choose.
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_PLAIN, *_AGENTS, AskUser())}
# The tools that a run is offered depending on its files and knowledge bases (llm_worker/loading).
SEARCH_PROJECT: Tool = SearchProject()
READ_FILE: Tool = ReadFile()
PROJECT_TOOLS: tuple[Tool, ...] = (READ_FILE, SEARCH_PROJECT)
# The same tool with other guidance: one of these is offered, by how the knowledge bases of the run were chosen, and by
# whether the run is restricted.
_RELAXED, _STRICT = "knowledge_relaxed", "knowledge_strict"
SEARCH_BASES: Tool = KnowledgeBaseSearch(_RELAXED)
SEARCH_PICKED_BASES: Tool = KnowledgeBaseSearch(_STRICT)
SEARCH_RESTRICTED_BASES: Tool = RestrictedSearch(_RELAXED)
SEARCH_PICKED_RESTRICTED_BASES: Tool = RestrictedSearch(_STRICT)


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
