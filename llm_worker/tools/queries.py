"""The queries of search tools: merges calls, adds rewrites, and combines the results of several queries. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Final

from chat.transcript.entries import Document
from llm_worker.tools.tool import ToolContext

# Only the first queries of merged calls are executed; the stored arguments show which.
MAX_QUERIES: Final = 10

PARAMETERS: Final[Mapping[str, Any]] = {
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


def merged(arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the arguments of one call that replaces several."""
    return {"queries": _distinct(chain.from_iterable(map(_queries, arguments)))[:MAX_QUERIES]}


def executed(arguments: Mapping[str, Any]) -> list[str]:
    """Return the queries of a call that are executed."""
    return _distinct(_queries(arguments))[:MAX_QUERIES]


async def expanded(
    arguments: Mapping[str, Any], work: ToolContext
) -> tuple[list[str], Mapping[str, Any] | None]:
    """Add rewrites to the queries of a call. Also returns the arguments with them; None if there are no rewrites."""
    queries = executed(arguments)
    rewrites = await work.rewrite_queries(queries) if queries else ()
    every = _distinct([*queries, *rewrites])[:MAX_QUERIES]
    if every == queries:
        return queries, None
    rest = {name: value for name, value in arguments.items() if name not in ("query", "queries")}
    return every, {"queries": every, **rest}


def best_first(found: Sequence[Sequence[Document]]) -> Iterator[Document]:
    """Interleave the results: the best of each query, then the second, and so on; each document or part once."""
    seen = set()
    for document in chain.from_iterable(zip_longest(*found)):
        if document is None:
            continue
        part = document.document_id, document.metadata.get("start")
        if part not in seen:
            seen.add(part)
            yield document


def _queries(arguments: Mapping[str, Any]) -> list[str]:
    given = [arguments.get("query", ""), *arguments.get("queries", ())]
    return [query for one in given if (query := one.strip())]


def _distinct(queries: Iterable[str]) -> list[str]:
    """Remove repetitions (ignoring case), keeping the order."""
    first: dict[str, str] = {}
    for query in queries:
        first.setdefault(query.casefold(), query)
    return list(first.values())
