"""Loads the stored tool rounds, citations and waits of runs: for replays, and for an attempt that resumes the run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q

from chat.loaders.attachments import load_tool_images
from chat.models import Approval, CitedDocument, Run, ToolCall
from chat.models.approval import Decision, Kind
from chat.models.tool_call import ToolCallStatus
from chat.protocol.call_answers import CallFacts
from chat.transcript.citations import linked_documents
from chat.transcript.entries import Document, Image, Passage, SentBack
from chat.transcript.packets import snippet
from chat.transcript.questions import Answered
from chat.transcript.rebuild import ShownCall, ShownDecision, ShownRound, documents_of
from chat.transcript.tools import ToolIdentity
from chat.transcript.waits import Asked, Beside, CallerTools, Wait, find_waits

_ANSWERS = (Decision.ANSWERED, Decision.DECLINED, Decision.SIGNED_IN)
_MEMBERS = ("number", "document_id", "title", "url")


def load_rounds(run_id: UUID, *, to_resume: bool = False) -> tuple[ShownRound, ...]:
    """Load all tool rounds of a run, oldest first, each call with the rounds inside it.
    to_resume: load the contents of images too."""
    inside: dict[UUID | None, list[ToolCall]] = defaultdict(list)
    unfinished, completed = [], []
    for call in ToolCall.objects.filter(run=run_id):
        inside[call.parent_tool_call_id].append(call)
        if call.status in (ToolCallStatus.WAITING, ToolCallStatus.RUNNING):
            unfinished.append(call.pk)
        elif call.status == ToolCallStatus.COMPLETED:
            completed.append(call.pk)
    images = load_tool_images(completed, with_contents=to_resume) if completed else {}
    stored = _Stored(inside, _approvals(unfinished) if unfinished else {}, images)
    return _rounds(stored, None)


class _Stored(NamedTuple):
    """The stored calls of a run.

    inside: the calls inside each call, and under None the calls of the message.
    approvals: of calls that have not ended, oldest first.  images: of calls that have completed.
    """

    inside: Mapping[UUID | None, list[ToolCall]]
    approvals: Mapping[UUID, list[Approval]]
    images: Mapping[UUID, tuple[Image, ...]]

    def decision(self, call: ToolCall) -> ShownDecision | None:
        """Return the decision about a waiting call, which may still be open; None for other calls."""
        approvals = self.approvals.get(call.pk)
        if call.status != ToolCallStatus.WAITING or not approvals:
            return None
        latest = approvals[-1]
        return ShownDecision(
            latest.decision,
            latest.note,
            latest.final_arguments,
            latest.question,
            latest.answer or {},
            latest.changed,
        )

    def answers(self, call: ToolCall) -> tuple[Answered, ...]:
        """Return the answers since the call was approved: an earlier one may have been for another server."""
        answers: list[Answered] = []
        for approval in self.approvals.get(call.pk, ()):
            if approval.kind == Kind.APPROVAL:
                answers.clear()
            elif approval.decision in _ANSWERS and (question := approval.question):
                answers.append(Answered(question, _values(approval), approval.note))
        return tuple(answers)

    def asked_about(self, call: ToolCall) -> ToolIdentity | None:
        approvals = self.approvals.get(call.pk)
        return approvals[-1].identity if approvals else None


def _values(approval: Approval) -> Mapping[str, Any] | None:
    return (approval.answer or {}) if approval.decision == Decision.ANSWERED else None


def _approvals(calls: Iterable[UUID]) -> Mapping[UUID, list[Approval]]:
    by_call: dict[UUID, list[Approval]] = defaultdict(list)
    for approval in Approval.objects.filter(tool_call__in=calls).order_by("requested_at"):
        by_call[approval.tool_call_id].append(approval)
    return by_call


def cited_in(text: str, rounds: Iterable[ShownRound], saved: Iterable[Document] = ()) -> list[Document]:
    """Return the documents that the text links to, among `saved` and the documents that these rounds found, inside
    agent tools too."""
    return linked_documents(text, chain(documents_of(rounds), saved))


def load_cited(run: Run) -> list[Document]:
    """Load the documents that the saved text of an unfinished run links to.

    Documents of the run's project and files are known from its checkpoints alone.
    """
    return cited_in(run.message.text, load_rounds(run.pk), load_citations(run.message_id))


def load_citations(message_id: UUID) -> tuple[Document, ...]:
    """Load the documents that a message cites as far as it is saved, by number."""
    cited = CitedDocument.objects.filter(message=message_id).order_by("number")
    return tuple(Document(one.number, one.document_id, one.title, url=one.url) for one in cited)


def document_record(document: Document) -> dict[str, Any]:
    """Return the JSON that a tool call stores of a document it found; the text is part of the call's response."""
    record = {name: getattr(document, name) for name in _MEMBERS} | {"snippet": snippet(document)}
    if document.passage:
        record["passage"] = document.passage._asdict()
    if document.knowledge_base:
        record["knowledge_base"] = document.knowledge_base
    return record


def _rounds(stored: _Stored, parent: UUID | None) -> tuple[ShownRound, ...]:
    return tuple(
        _round(list(calls), stored)
        for _, calls in groupby(stored.inside.get(parent, ()), lambda call: call.turn_number)
    )


def _round(calls: list[ToolCall], stored: _Stored) -> ShownRound:
    shown = tuple(
        ShownCall(
            id=str(call.pk),
            tool_call_id=call.tool_call_id,
            name=call.name,
            arguments=call.arguments,
            response=call.response,
            documents=_documents(call.documents),
            status=call.status,
            facts=CallFacts(**{name: getattr(call, name) for name in CallFacts.__struct_fields__}),
            rounds=_rounds(stored, call.pk),
            report_reasoning=call.report_reasoning,
            report=call.report,
            decision=stored.decision(call),
            answers=stored.answers(call),
            images=stored.images.get(call.pk, ()),
            asked_about=stored.asked_about(call),
        )
        for call in calls
    )
    first = calls[0]
    sent_back = SentBack(**first.sent_back) if first.sent_back else None
    return ShownRound(shown, first.reasoning, first.text_before, first.reasoning_ms, sent_back)


def _documents(records: Iterable[Mapping[str, Any]]) -> tuple[Document, ...]:
    return tuple(
        Document(
            one["number"],
            one["document_id"],
            one["title"],
            one.get("snippet", ""),
            url=one.get("url") or "",
            passage=Passage(**one["passage"]) if one.get("passage") else None,
            knowledge_base=one.get("knowledge_base", ""),
        )
        for one in records
    )


def load_waits(run: Run) -> Sequence[Wait]:
    """Load the waits of a run, oldest first. run: with its turn. What the caller itself carries out is left out."""
    rows = Approval.objects.filter(tool_call__message=run.message_id)
    places = "tool_call__turn_number", "tool_call__tab_index"
    columns = "name", "arguments", "kind", "decision", "note"
    # A stop refuses the call, and leaves its question as it is.
    is_open = ExpressionWrapper(
        Q(decision="", tool_call__status=ToolCallStatus.WAITING), output_field=BooleanField()
    )
    ordered = rows.order_by("requested_at", *places).values_list("pk", *places, *columns, is_open)
    asked = [Asked(*row) for row in ordered]
    if not asked:
        return ()
    functions = [function.name for function in CallerTools.from_json(run.turn.caller_tools).functions]
    has_ended = ExpressionWrapper(~Q(response=""), output_field=BooleanField())
    calls = ToolCall.objects.filter(message=run.message_id, turn_number__in={call.round for call in asked})
    beside = calls.exclude(name__in=functions).order_by().values_list("turn_number", "tab_index", has_ended)
    return find_waits(asked, [Beside(*row) for row in beside])
