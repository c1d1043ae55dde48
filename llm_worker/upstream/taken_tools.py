"""Decides which tools of a request its server takes, and reads from refusals which it does not. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from chat.protocol.server_tool_names import is_server_tool
from chat.transcript import dialect
from chat.transcript.tools import digest
from llm_worker.request.model_message import LanguageModelInput
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failure_codes import is_refusal

Schemas = Sequence[Mapping[str, Any]]

_DIGEST_CHARACTERS: Final = 12
# A request is not tried without one tool after the other for longer than this.
_MAX_REFUSED: Final = 16
# Gemini counts tools within their only group; FastAPI, Anthropic and OpenAI count groups.
_PLACES: Final = (
    re.compile(r"function_?declarations\[(\d+)\]"),
    re.compile(r"(?<![a-z_])tools?(?:\[|\.)(\d+)"),
)
# What is named is a call, in the history or by the model (Groq), not a tool that is offered.
_OF_A_CALL: Final = re.compile(
    r"messages?(?:\[|\.)\d|tool_use_failed|failed_generation|tool.?calls?\b|function call"
)
_NAMED: Final = r"(?:['\"`“\u2018]|\b(?:function|tool)s?:? ){name}(?![\w-])"
_TOO_MANY: Final = re.compile(
    r"(?:too (?:long|many)|maxim|at most|no more than|exceed|less than or equal|limit).*"
)
_OF_TOOLS: Final = re.compile(r"(?<![a-z_])(?:tools|functions|function_?declarations)(?![a-z_])")
# The limit of OpenAI and of most others, where a refusal says that there are too many but not how many are taken.
_USUAL_LIMIT: Final = 128


def taken_tools(
    schemas: Schemas, traits: Collection[str], uses: Mapping[str, int], callers: Collection[str] = ()
) -> list[Mapping[str, Any]]:
    """Return the tools that a server with these traits takes, in their order, and all of the caller's.

    uses: by name of a tool, how often it was called. Of more tools than the server takes, those used most are kept;
    among those used equally, our own before those of servers.  callers: names of the caller's tools.
    """
    refused = set(dialect.refused_tools(traits))
    accepted = [
        schema
        for schema in schemas
        if not refused or name_of(schema) in callers or _mark(schema) not in refused
    ]
    most = dialect.max_tools(traits)
    if most is None or len(accepted) <= most:
        return accepted
    ranked = sorted(
        map(name_of, accepted),
        key=lambda name: (name not in callers, -uses.get(name, 0), is_server_tool(name)),
    )
    chosen = {*callers, *ranked[:most]}
    return [schema for schema in accepted if name_of(schema) in chosen]


def name_of(schema: Mapping[str, Any]) -> str:
    return str(schema["function"]["name"])


def refused_tools(failure: ModelFailed, sent: Schemas, traits: Collection[str]) -> frozenset[str]:
    """Return the traits of a server that refuses some of the tools, or their number; empty if the failure names none.

    sent: as in the body of the request.
    """
    if not is_refusal(failure.code, failure.status) or len(dialect.refused_tools(traits)) >= _MAX_REFUSED:
        return frozenset()
    said = failure.searched
    if named := _at_places(said, sent) or _by_name(said, sent):
        return frozenset(dialect.REFUSED_TOOL + _mark(schema) for schema in named)
    limit = _limit(said, len(sent))
    return frozenset({f"{dialect.MAX_TOOLS}{limit}"} if limit else ())


def refused_of_caller(refused: Collection[str], callers: Collection[str]) -> str:
    """Return which of the caller's tools these traits leave out, as `tools.name`, or `tools`; empty: none."""
    names = {tool.rpartition(":")[0] for tool in dialect.refused_tools(refused)}
    if named := names.intersection(callers):
        return f"tools.{min(named)}"
    most = dialect.max_tools(refused)
    return "tools" if most is not None and most < len(callers) else ""


def called_names(messages: LanguageModelInput) -> dict[str, int]:
    """Count the calls of each tool in the messages."""
    return Counter(call.name for message in messages for call in message.calls)


def _mark(schema: Mapping[str, Any]) -> str:
    return f"{name_of(schema)}:{digest(schema)[:_DIGEST_CHARACTERS]}"


def _at_places(said: str, sent: Schemas) -> list[Mapping[str, Any]]:
    places = next((found for pattern in _PLACES if (found := pattern.findall(said))), [])
    return [sent[place] for place in {int(digits[:6]) for digits in places} if place < len(sent)]


def _by_name(said: str, sent: Schemas) -> list[Mapping[str, Any]]:
    """Return the tool that is named first: what is named after it may be a list of those that are known."""
    if _OF_A_CALL.search(said):
        return []
    found = (
        (match.start(), place)
        for place, schema in enumerate(sent)
        if (match := re.search(_NAMED.format(name=re.escape(name_of(schema).lower())), said))
    )
    first = min(found, default=None)
    return [sent[first[1]]] if first else []


def _limit(said: str, count: int) -> int | None:
    """Return how many tools the server takes, if it says that `count` are too many."""
    found = _TOO_MANY.search(said)
    if not found or not _OF_TOOLS.search(said):
        return None
    numbers = [int(digits) for digits in re.findall(r"\b\d{1,4}\b", found[0])]
    return next(
        (number for number in numbers if 0 < number < count), _USUAL_LIMIT if count > _USUAL_LIMIT else None
    )
