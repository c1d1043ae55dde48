"""The registry of tools. Adding a tool takes one file in this folder and one line here.

Does not know agents, runs or rows.
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
# Those that agents and sessions choose.
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_PLAIN, *_AGENTS, AskUser())}
# Those that a run is offered by what it has (llm_worker/loading).
SEARCH_PROJECT: Tool = SearchProject()
READ_FILE: Tool = ReadFile()
PROJECT_TOOLS: tuple[Tool, ...] = (READ_FILE, SEARCH_PROJECT)
# The same tool with other guidance: one of them is offered, by how the knowledge bases of the run were chosen, and by what
# may be seen of them.
_RELAXED, _STRICT = "knowledge_relaxed", "knowledge_strict"
SEARCH_BASES: Tool = KnowledgeBaseSearch(_RELAXED)
SEARCH_PICKED_BASES: Tool = KnowledgeBaseSearch(_STRICT)
SEARCH_RESTRICTED_BASES: Tool = RestrictedSearch(_RELAXED)
SEARCH_PICKED_RESTRICTED_BASES: Tool = RestrictedSearch(_STRICT)


def select_tools(names: Iterable[str]) -> list[Tool]:
    """The available tools of these names, sorted by name; unknown names are ignored."""
    return [TOOLS[name] for name in sorted(set(names)) if name in TOOLS and TOOLS[name].is_available()]


def add_source_tools(chosen: Iterable[Tool], sources: tuple[Tool, ...]) -> Sequence[Tool]:
    """sources: those that search and read what the run has; for agent tools among the chosen ones as well."""
    if not sources:
        return list(chosen)
    searching = (_with_sources(tool, sources) if isinstance(tool, ResearchAgent) else tool for tool in chosen)
    return [*searching, *sources]


@cache
def _with_sources(agent: ResearchAgent, sources: tuple[Tool, ...]) -> Tool:
    return agent.with_sources(sources)
