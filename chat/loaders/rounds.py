"""The tool rounds of one run as the database keeps them: for a replay, and for the attempt that goes on with them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any
from uuid import UUID

from chat.models import CitedDocument, ToolCall
from chat.transcript.citation_links import linked_documents
from chat.transcript.entries import Document
from chat.transcript.packets import snippet
from chat.transcript.rebuild import ShownCall, ShownRound, documents_of

SHOWN = ("number", "document_id", "title", "url")


def rounds_of(run_id: Any) -> tuple[ShownRound, ...]:
    """Oldest first, each call with the rounds inside it."""
    inside: dict[UUID | None, list[ToolCall]] = defaultdict(list)
    for call in ToolCall.objects.filter(run=run_id):
        inside[call.parent_tool_call_id].append(call)
    return _rounds(inside, None)


def cited_in(text: str, rounds: Iterable[ShownRound]) -> list[Document]:
    """The documents found by these rounds, inside agent tools too, that the text links to."""
    return linked_documents(text, documents_of(rounds))


def citations_of(message_id: Any) -> tuple[Document, ...]:
    """What its text links to, by number."""
    cited = CitedDocument.objects.filter(message=message_id).order_by("number")
    return tuple(Document(one.number, one.document_id, one.title, url=one.url) for one in cited)


def record(document: Document) -> dict[str, Any]:
    """How a document is kept beside the call that found it; what it says stands in the response."""
    return {name: getattr(document, name) for name in SHOWN} | {"snippet": snippet(document)}


def _rounds(inside: Mapping[UUID | None, list[ToolCall]], parent: UUID | None) -> tuple[ShownRound, ...]:
    return tuple(
        _round(list(calls), inside)
        for _, calls in groupby(inside.get(parent, ()), lambda call: call.turn_number)
    )


def _round(calls: list[ToolCall], inside: Mapping[UUID | None, list[ToolCall]]) -> ShownRound:
    shown = tuple(
        ShownCall(
            id=str(call.pk),
            tool_call_id=call.tool_call_id,
            name=call.name,
            arguments=call.arguments,
            response=call.response,
            documents=_documents(call.documents),
            status=call.status,
            duration_ms=call.duration_ms,
            rounds=_rounds(inside, call.pk),
            report_reasoning=call.report_reasoning,
            report=call.report,
        )
        for call in calls
    )
    return ShownRound(shown, calls[0].reasoning, calls[0].text_before, calls[0].reasoning_ms)


def _documents(records: Iterable[Mapping[str, Any]]) -> tuple[Document, ...]:
    return tuple(
        Document(
            one["number"], one["document_id"], one["title"], one.get("snippet", ""), url=one.get("url") or ""
        )
        for one in records
    )
