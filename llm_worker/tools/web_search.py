"""The web_search tool: queries the deployment's SearXNG server. Returns snippets; does not fetch pages."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

import aiohttp
from django.conf import settings

from chat.transcript.entries import Document
from llm_worker.tools.searxng import search
from llm_worker.tools.tool import ToolContext, ToolFailed, ToolResult

# Of merged calls, the first queries are executed; the stored arguments show which.
MAX_QUERIES = 10
# Of all queries together: 20 snippets are some 3,000 tokens.
MAX_DOCUMENTS = 20


class WebSearch:
    name = "web_search"
    description = "Searches the web; returns titles, addresses and snippets of pages."
    guidance = (
        "Call `web_search` for anything recent, for facts you are not sure of, and when the user asks for sources. "
        "Write short queries as for a search engine, without the words of the conversation; pass several in "
        "`queries` when the question has several sides. Snippets are short and may be wrong: compare them."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 400, "description": "What to search for."},
            "queries": {
                "type": "array",
                "items": {"type": "string", "maxLength": 400},
                "maxItems": MAX_QUERIES,
                "description": "Several searches at once, instead of `query`.",
            },
        },
    }
    searches = True
    merges = True
    is_idempotent = True
    time_limit_s: float | None = None

    def is_available(self) -> bool:
        return bool(settings.WEB_SEARCH_URL)

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return {"queries": _distinct(chain.from_iterable(map(_queries, arguments)))[:MAX_QUERIES]}

    async def run(self, arguments: Mapping[str, Any], _work: ToolContext) -> ToolResult:
        queries = _distinct(_queries(arguments))[:MAX_QUERIES]
        if not queries:
            raise ToolFailed("web_search needs a `query`.")
        async with aiohttp.ClientSession() as client, asyncio.TaskGroup() as group:
            asking = [group.create_task(_answer(client, query)) for query in queries]
        answers = [task.result() for task in asking]
        found = [answer for answer in answers if not isinstance(answer, ToolFailed)]
        if not found:
            raise next(answer for answer in answers if isinstance(answer, ToolFailed))
        documents = tuple(_best_first(found))[:MAX_DOCUMENTS]
        return ToolResult("" if documents else "The web search found nothing.", documents)


async def _answer(client: aiohttp.ClientSession, query: str) -> list[Document] | ToolFailed:
    """Returns the failure instead of raising it: the results of the other queries are still useful."""
    try:
        return await search(client, settings.WEB_SEARCH_URL, query)
    except ToolFailed as failure:
        return failure


def _queries(arguments: Mapping[str, Any]) -> list[str]:
    given = [arguments.get("query", ""), *arguments.get("queries", ())]
    return [query for one in given if (query := one.strip())]


def _distinct(queries: Iterable[str]) -> list[str]:
    """Without repetitions (ignoring case), in order."""
    return list({query.casefold(): query for query in reversed([*queries])}.values())[::-1]


def _best_first(found: Sequence[Sequence[Document]]) -> Iterator[Document]:
    """Interleaved: the best result of each query, then the second ones; each page once."""
    seen = set()
    for document in chain.from_iterable(zip_longest(*found)):
        if document is not None and document.document_id not in seen:
            seen.add(document.document_id)
            yield document
