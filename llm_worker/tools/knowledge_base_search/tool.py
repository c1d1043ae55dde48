"""The knowledge_base_search tool: finds passages in the documents of knowledge bases.

Offered to runs that have knowledge bases (llm_worker/loading/turn_context.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.conf import settings

from llm_worker.prompts import prompt
from llm_worker.side_requests.artifact import Failure, refusal
from llm_worker.tools.knowledge_base_search import CARD
from llm_worker.tools.queries import PARAMETERS, best_first, executed, expanded, merged
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult

# The limit for all queries together: some 5,000 tokens.
MAX_DOCUMENTS: Final = 12
INDEXING: Final = "The knowledge bases are still being indexed: a later search may find more."
NOTHING: Final = "Nothing in the knowledge bases matches."


class KnowledgeBaseSearch(Tool):
    name = CARD.name
    description = "Searches the documents of the knowledge bases that this chat may use; returns passages with their titles."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            **PARAMETERS["properties"],
            "knowledge_base": {
                "type": "string",
                "maxLength": 200,
                "description": "The id of the one knowledge base to search. Left out: all of them.",
            },
        },
    }
    searches = True
    merges = True

    def __init__(self, manner: str) -> None:
        """Set the guidance. manner: the prompt that says how far answers may go beyond the passages."""
        self.guidance = f"{prompt('knowledge_search')}\n\n{prompt(manner)}"
        # The secondary model must time out before the tool.
        self.time_limit_s = float(settings.TOOL_TIMEOUT_S + settings.SAFE_SUMMARY_TIMEOUT_S)

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Merge calls that search the same bases; other calls stay separate."""
        [base, *others] = {one.get("knowledge_base", "").strip() for one in arguments}
        if others:
            return None
        return {**merged(arguments), "knowledge_base": base} if base else merged(arguments)

    def count_searches(self, arguments: Mapping[str, Any]) -> int:
        return len(executed(arguments))

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        queries, ran = await expanded(arguments, work)
        base = arguments.get("knowledge_base", "")
        if not queries:
            raise ToolFailed(f"{self.name} needs a `query`.")
        result = await _search(queries, base, work)
        if not result.is_safe_summary:
            result = await _without_records(result, work)
        return replace(result, arguments=ran)


class RestrictedSearch(KnowledgeBaseSearch):
    """The tool for restricted runs: its guidance explains artifacts, and that there is nothing to cite."""

    description = "Asks the documents of the knowledge bases that this chat may use; returns a checked summary, no documents."
    searches = False

    def __init__(self, manner: str) -> None:
        super().__init__(manner)
        self.guidance = f"{self.guidance}\n\n{prompt('knowledge_restricted')}"


# The same tool with other guidance: one of these is offered, by how the knowledge bases of the run were chosen, and by
# whether the run is restricted.
TOOL: Tool = KnowledgeBaseSearch("knowledge_relaxed")
SEARCH_PICKED: Tool = KnowledgeBaseSearch("knowledge_strict")
SEARCH_RESTRICTED: Tool = RestrictedSearch("knowledge_relaxed")
SEARCH_PICKED_RESTRICTED: Tool = RestrictedSearch("knowledge_strict")


async def _search(queries: Sequence[str], base: str, work: ToolContext) -> ToolResult:
    if await work.knowledge.is_restricted():
        artifact = await work.knowledge.summarise(queries, base)
        return ToolResult(artifact.render(), is_safe_summary=True)
    # Asked before the search, which may not find files that are indexed meanwhile.
    note = INDEXING if await work.knowledge.is_indexing() else ""
    found = [await work.knowledge.search(query, base) for query in queries]
    documents = tuple(best_first(found))[:MAX_DOCUMENTS]
    return ToolResult("" if documents or note else NOTHING, documents, note, is_knowledge_search=True)


async def _without_records(result: ToolResult, work: ToolContext) -> ToolResult:
    """Return the result, or a refusal if the run is restricted by now: roles may have changed during the searches."""
    if await work.knowledge.is_restricted():
        return ToolResult(refusal(Failure.ACCESS_CHANGED).render(), is_safe_summary=True)
    return result
