"""Rebuilds the packets of an ended run, or of the rounds that an attempt resumes, from stored values. Pure.

Uses the same Blocks as the live stream, so that a reload shows exactly what was streamed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chat.protocol import wire as p
from chat.protocol.call_answers import NO_FACTS, CallFacts
from chat.transcript.citations import citation_link
from chat.transcript.entries import Document, Image, SentBack
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.packets import Blocks, Placed
from chat.transcript.questions import Answered, AnyQuestion
from chat.transcript.tools import ToolIdentity


@dataclass(frozen=True)
class ShownDecision:
    """The user's decision about a call that waited for it. decision: of chat.models.approval; empty: none yet.

    question: of the call.  answer: the values of its form by name.
    changed: what the user was told that is different from the tool they had allowed; empty: nothing.
    """

    decision: str
    note: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    question: AnyQuestion | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)
    changed: str = ""


@dataclass(frozen=True)
class ShownCall:
    """A stored tool call. id: of its row. response: empty if there was none.

    rounds, report_reasoning, report: the calls and texts inside an agent tool.
    decision: set while the call waits, for approval or an answer.  answers: to its questions, until it ends.
    images: the images that can be shown; with their contents only where the call is resumed.
    asked_about: the tool that the user was asked about last, until the call ends; None: they were not asked.
    """

    id: str
    tool_call_id: str
    name: str
    arguments: Mapping[str, Any]
    response: str
    documents: tuple[Document, ...] = ()
    status: str = "completed"
    facts: CallFacts = NO_FACTS
    rounds: tuple["ShownRound", ...] = ()
    report_reasoning: str = ""
    report: str = ""
    decision: ShownDecision | None = None
    answers: tuple[Answered, ...] = ()
    images: tuple[Image, ...] = ()
    asked_about: ToolIdentity | None = None


@dataclass(frozen=True)
class ShownRound:
    """The calls of one cycle in tab order, with the text and reasoning before them. reasoning_ms: of that reasoning."""

    calls: tuple[ShownCall, ...]
    reasoning: str = ""
    text_before: str = ""
    reasoning_ms: int | None = None
    sent_back: SentBack | None = None  # never shown


@dataclass(frozen=True)
class Ended:
    """The stored values of an ended run from which its packets are rebuilt.

    reasoning, reasoning_ms: since the last round. text: of the whole message; it begins with the rounds' text_before.
    citations: the documents that the text links to, by number.
    """

    model: str
    model_index: int
    reasoning: str
    text: str
    stop_reason: p.StopReason
    error: p.Error | None = None
    rounds: tuple[ShownRound, ...] = ()
    citations: tuple[Document, ...] = ()
    reasoning_ms: int | None = None
    finish: Finish = WHOLE


def rebuild(ended: Ended) -> list[Placed]:
    """Rebuild the packets of an ended run, as its live stream would have merged them into whole blocks."""
    blocks = Blocks(model_index=ended.model_index)
    cited = {document.number: document for document in ended.citations}
    placed = [*blocks.run_start(ended.model), *show_rounds(blocks, ended.rounds, cited)]
    narrated = sum(len(each.text_before) for each in ended.rounds)
    placed += blocks.reasoning(ended.reasoning, ended.reasoning_ms)
    placed += _show_text(blocks, ended.text[narrated:], cited)
    # Links of earlier releases are not found again if their address was escaped in another way.
    for document in cited.values():
        placed += blocks.citation(document)
    if ended.error:
        placed += blocks.error(ended.error.code, ended.error.message, retryable=ended.error.retryable)
    return [*placed, *blocks.stop(ended.stop_reason, ended.finish)]


def show_rounds(blocks: Blocks, rounds: Iterable[ShownRound], cited: dict[int, Document]) -> Iterator[Placed]:
    """Yield the packets of finished rounds. cited: documents without a citation packet; those sent are removed."""
    for each in rounds:
        yield from show_before(blocks, each, cited)
        yield from blocks.round(len(each.calls))
        for tab, call in enumerate(each.calls):
            yield from show_call(blocks, tab, call)
            yield from show_outcome(blocks, tab, call)
        yield from blocks.close()


def show_before(blocks: Blocks, each: ShownRound, cited: dict[int, Document]) -> Iterator[Placed]:
    """Yield the packets of the reasoning and text before a round."""
    yield from blocks.reasoning(each.reasoning, each.reasoning_ms)
    yield from _show_text(blocks, each.text_before, cited)


def _show_text(blocks: Blocks, text: str, cited: dict[int, Document]) -> Iterator[Placed]:
    """Yield the packets of a text, with a citation packet before the first link to each document."""
    places = {number: text.find(citation_link(document)) for number, document in cited.items()}
    shown = 0
    for number, place in sorted(places.items(), key=lambda item: item[1]):
        if place >= 0:
            yield from blocks.message(text[shown:place])
            yield from blocks.citation(cited.pop(number))
            shown = place
    yield from blocks.message(text[shown:])


def show_call(blocks: Blocks, tab: int, call: ShownCall) -> Iterator[Placed]:
    """Yield the packets of the start of a call, with its arguments."""
    yield from blocks.tool_start(tab, call.tool_call_id, call.name)
    yield from blocks.tool_arguments(tab, call.arguments, call.id)


def show_outcome(blocks: Blocks, tab: int, call: ShownCall) -> Iterator[Placed]:
    """Yield the packets of a call's result, and of the calls and texts inside an agent tool."""
    if call.rounds or call.report_reasoning or call.report:
        inside = blocks.within(tab)
        yield from show_rounds(inside, call.rounds, {})
        yield from inside.reasoning(call.report_reasoning)
        yield from inside.message(call.report)
        yield from inside.close()
    if call.response:
        yield from blocks.tool_output(tab, call.response, call.documents, call.id, call.images)
    yield from blocks.tool_end(tab, call.status, call.facts)


def documents_of(rounds: Iterable[ShownRound]) -> Iterator[Document]:
    """Yield all documents that these rounds found, inside agent tools too."""
    for each in rounds:
        for call in each.calls:
            yield from call.documents
            yield from documents_of(call.rounds)
