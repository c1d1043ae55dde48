"""Removes the texts that its user may no longer read from a turn in progress. Pure.

Later turns need none of this: their requests repeat no response of a tool, and no dynamic context (decision 0115).
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from chat.transcript.entries import Call, Round
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.side_requests.artifact import is_artifact


@dataclass(frozen=True, slots=True)
class LoopTexts:
    """The material of a loop for its next request. withheld: numbers of documents that may no longer be cited."""

    dynamic_context: str
    rounds: Sequence[Round]
    withheld: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Readers:
    """Names of tools whose responses show documents.

    searches: if the response is a JSON object, but not an artifact.  reports: always.
    """

    searches: Collection[str]
    reports: Collection[str]

    def have_shown(self, call: Call) -> bool:
        if call.name in self.reports:
            return bool(call.response)
        return call.name in self.searches and call.response.startswith("{") and not is_artifact(call.response)


def withhold(material: LoopTexts, readers: Readers, dynamic_context: str) -> LoopTexts:
    """Remove the responses in which these tools have shown documents, and replace the dynamic context."""
    withheld = [
        number
        for each in material.rounds
        for call in each.calls
        if readers.have_shown(call)
        for number in _numbers(call.response)
    ]
    rounds = [
        replace(each, calls=tuple(_without_documents(call, readers) for call in each.calls))
        for each in material.rounds
    ]
    return LoopTexts(dynamic_context, rounds, frozenset(withheld))


def _without_documents(call: Call, readers: Readers) -> Call:
    return replace(call, response=OMITTED_RESPONSE) if readers.have_shown(call) else call


def _numbers(response: str) -> Iterable[int]:
    try:
        read = json.loads(response)
    except (ValueError, RecursionError):
        return ()
    documents = read.get("documents") if isinstance(read, dict) else None
    listed = documents if isinstance(documents, list) else []
    numbers = [document.get("document") for document in listed if isinstance(document, dict)]
    return [number for number in numbers if isinstance(number, int)]
