"""The search_project tool: finds passages in the files of the session's project.

Offered to runs whose project does not fit into the requests of their model (llm_worker/loading/project.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from llm_worker.tools.queries import PARAMETERS, best_first, executed, expanded, merged
from llm_worker.tools.search_project import CARD
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult

# The limit for all queries together: some 5,000 tokens.
MAX_DOCUMENTS = 12

INDEXING = "The project's files are still being indexed: a later search may find more."


class SearchProject(Tool):
    name = CARD.name
    description = "Searches the files of the project that this chat belongs to; returns passages."
    guidance = (
        "The files of this chat's project are not shown to you. Call `search_project` before you answer anything that they "
        "may say. Use words that the files themselves would use, names and numbers as they are written; pass several "
        "searches in `queries` when the question has several sides."
    )
    parameters = PARAMETERS
    searches = True
    merges = True

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return merged(arguments)

    def count_searches(self, arguments: Mapping[str, Any]) -> int:
        return len(executed(arguments))

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        queries, ran = await expanded(arguments, work)
        if not queries:
            raise ToolFailed("search_project needs a `query`.")
        # Asked before the search, which may not find files that are indexed meanwhile.
        note = INDEXING if await work.sources.is_indexing() else ""
        found = [await work.sources.search_project(query) for query in queries]
        documents = tuple(best_first(found))[:MAX_DOCUMENTS]
        nothing = "" if documents or note else "Nothing in the project's files matches."
        return ToolResult(nothing, documents, note, arguments=ran)


TOOL: Tool = SearchProject()
