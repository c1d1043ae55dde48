"""The web_search tool: queries the deployment's search service. Returns snippets; does not fetch pages."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from chat.transcript.entries import Document
from llm_worker.tools.queries import PARAMETERS, best_first, executed, merged
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult
from llm_worker.tools.web_search import CARD
from llm_worker.tools.web_search.services import search

# The limit for all queries together: 20 snippets are some 3,000 tokens.
MAX_DOCUMENTS = 20


class WebSearch(Tool):
    name = CARD.name
    description = "Searches the web; returns titles, addresses and snippets of pages."
    guidance = (
        "Call `web_search` for anything recent, for facts you are not sure of, and when the user asks for sources. "
        "Write short queries as for a search engine, without the words of the conversation; pass several in "
        "`queries` when the question has several sides. Snippets are short and may be wrong: compare them."
    )
    parameters = PARAMETERS
    searches = True
    works_inside_agents = True
    finds_pages = True
    merges = True

    def is_available(self) -> bool:
        return CARD.is_set_up()

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return merged(arguments)

    def count_searches(self, arguments: Mapping[str, Any]) -> int:
        return len(executed(arguments))

    async def run(self, arguments: Mapping[str, Any], _work: ToolContext) -> ToolResult:
        queries = executed(arguments)
        if not queries:
            raise ToolFailed("web_search needs a `query`.")
        async with aiohttp.ClientSession() as client, asyncio.TaskGroup() as group:
            asking = [group.create_task(_answer(client, query)) for query in queries]
        answers = [task.result() for task in asking]
        found = [answer for answer in answers if not isinstance(answer, ToolFailed)]
        if not found:
            raise next(answer for answer in answers if isinstance(answer, ToolFailed))
        documents = tuple(best_first(found))[:MAX_DOCUMENTS]
        return ToolResult("" if documents else "The web search found nothing.", documents)


TOOL: Tool = WebSearch()


async def _answer(client: aiohttp.ClientSession, query: str) -> list[Document] | ToolFailed:
    """Search, and return a failure instead of raising it: the results of other queries are still useful."""
    try:
        return await search(client, query)
    except ToolFailed as failure:
        return failure
