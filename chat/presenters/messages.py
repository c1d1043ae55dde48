"""Messages as clients see them: with run, files, tool calls, citations and siblings, or as nodes of the tree.

The number of queries does not depend on the number of messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple, Self
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.models import ChatMessage, EditedAnswer, Role, Run, RunSetup, Turn, run_of
from chat.models.run_fields import run_limits
from chat.presenters.json_values import JSONObject
from chat.presenters.related import CitationAnswer, MessageFileAnswer, ToolCallAnswer, present_related
from chat.presenters.runs import RunErrorAnswer, present_cut, present_error
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.states import Status
from chat.transcript.finish import CUT


class Column(NamedTuple):
    """turn: the turn in whose columns the answer stands. number: the model_index of its run."""

    turn: UUID
    number: int


class Siblings:
    """The siblings of messages. attempts: the answers in a column, by turn and column, each oldest first."""

    def __init__(self) -> None:
        self._siblings: dict[tuple[UUID | None, str], list[UUID]] = defaultdict(list)
        self._columns: dict[UUID, Column] = {}
        self._attempts: dict[UUID, dict[int, list[UUID]]] = defaultdict(lambda: defaultdict(list))

    @classmethod
    def read(cls, messages: Iterable[ChatMessage]) -> Self:
        rows = ChatMessage.objects.filter(parent__in={message.parent_id for message in messages})
        columns = ("id", "parent_id", "role", "run__turn_id", "run__turn__origin_id", "run__model_index")
        read = cls()
        for pk, parent, role, turn, origin, index in rows.order_by("sent_at", "id").values_list(*columns):
            read._siblings[parent, role].append(pk)
            if turn is not None:
                read._columns[pk] = Column(origin or turn, index)
                read._attempts[origin or turn][index].append(pk)
        return read

    def present(self, message: ChatMessage) -> JSONObject:
        """Return the member `siblings`, and for an answer `column` and `attempts`, the answers in its column."""
        presented: JSONObject = {"siblings": self._siblings[message.parent_id, message.role]}
        place = self._columns.get(message.pk)
        if place is None:
            return presented
        attempts = self._attempts[place.turn][place.number]
        return presented | {"column": place.number, "attempts": attempts}

    def alongside(self, answer: UUID) -> list[UUID]:
        """Return the newest answer of each other column, in the order of the columns."""
        place = self._columns.get(answer)
        if place is None:
            return []
        columns: Mapping[int, Sequence[UUID]] = self._attempts[place.turn]
        return [columns[index][-1] for index in sorted(columns) if index != place.number]


# The members of a live run's message: its text so far, and the cursor up to which that is complete. Called with the run
# and its tool calls as presented. A parameter, because the packet log has the text, and chat/log (progress.py) imports
# this folder.
PresentLiveRun = Callable[[Run, Sequence[JSONObject]], JSONObject]


class CursorAnswer(Answer):
    attempt: int
    seq: int


class FeedbackAnswer(Answer):
    is_positive: bool | None
    text: str


class MessageAnswer(Answer, kw_only=True):
    id: UUID
    parent: UUID | None
    role: Annotated[str, choice(Role)]
    text: str
    reasoning: str | UnsetType = UNSET
    reasoning_ms: int | UnsetType = UNSET
    status: Annotated[str, choice(Status)]
    error: RunErrorAnswer | UnsetType = UNSET
    finish_reason: Annotated[str | UnsetType, choice(CUT, "Of incomplete answers.")] = UNSET
    finish_tokens: Annotated[
        int | UnsetType, doc("What the model had generated when it was cut at its output limit.")
    ] = UNSET
    is_continuable: Annotated[
        bool | UnsetType,
        doc("Whether an answer that was cut at its output limit, stopped or broken off can be continued."),
    ] = UNSET
    model: str | UnsetType = UNSET
    agent: Annotated[
        str | UnsetType, doc("What the agent that answered was called then; absent without one.")
    ] = UNSET
    run: UUID | UnsetType = UNSET
    edited_from: Annotated[
        UUID | UnsetType | None,
        doc(
            "Of an answer whose text the user wrote: that of `model` which was edited; null if it is not there."
        ),
    ] = UNSET
    cursor: CursorAnswer | UnsetType = UNSET
    sent_at: Moment
    token_count: int
    additional_context: Annotated[
        str | UnsetType, doc("What a client sent beside this question; absent if nothing.")
    ] = UNSET
    instructions: Annotated[
        str | UnsetType,
        doc("In the place of additional_context, what the model followed; absent if nothing."),
    ] = UNSET
    knowledge_bases: Annotated[
        list[UUID] | UnsetType, doc("Picked with this question; absent if none was.")
    ] = UNSET
    earlier_knowledge_bases: Annotated[
        list[UUID] | UnsetType,
        doc("Picked with questions above this one, and searched again for it; absent if there are none."),
    ] = UNSET
    files: list[MessageFileAnswer]
    tool_calls: list[ToolCallAnswer]
    citations: list[CitationAnswer]
    siblings: list[UUID]
    column: Annotated[int | UnsetType, doc("The model_index of the run of an answer.")] = UNSET
    attempts: Annotated[list[UUID] | UnsetType, doc("The answers in its column, oldest first.")] = UNSET
    alongside: Annotated[
        list[MessageAnswer] | UnsetType, doc("The newest answers in the other columns of its turn.")
    ] = UNSET
    feedback: FeedbackAnswer | UnsetType = UNSET


class FoundMessageAnswer(Answer):
    message: UUID
    match: Annotated[str | None, doc("The text around the words; null in scripts without spaces.")]


class NodeAnswer(Answer, kw_only=True):
    id: UUID
    parent: UUID | None
    role: Annotated[str, choice(Role)]
    status: Annotated[str, choice(Status)]
    latest_child: UUID | None
    model: str | None
    edited_from: UUID | UnsetType | None = UNSET
    sent_at: Moment
    last_summarized_message: UUID | UnsetType | None = UNSET


def present_branch(messages: Iterable[ChatMessage], present_live_run: PresentLiveRun) -> list[JSONObject]:
    """Present messages as present_messages does, each answer with the answers in the other columns of its turn."""
    rows = list(messages)
    siblings = Siblings.read(rows)
    alongside = {row.pk: siblings.alongside(row.pk) for row in rows}
    columns = ChatMessage.objects.select_related("run", "feedback").filter(
        pk__in=[pk for pks in alongside.values() for pk in pks]
    )
    shown = [*rows, *columns] if any(alongside.values()) else rows
    members = dict(zip((row.pk for row in shown), _members(shown, siblings, present_live_run), strict=True))
    beside = {
        pk: [MessageAnswer(**members[other]) for other in others if other in members] if others else UNSET
        for pk, others in alongside.items()
    }
    return [MessageAnswer(**members[row.pk], alongside=beside[row.pk]).json() for row in rows]


def present_messages(messages: Iterable[ChatMessage], present_live_run: PresentLiveRun) -> list[JSONObject]:
    """Present user messages and answers, whose `run` and `feedback` should be joined."""
    rows = list(messages)
    members = _members(rows, Siblings.read(rows), present_live_run)
    return [MessageAnswer(**of_one).json() for of_one in members]


def _members(
    rows: Sequence[ChatMessage], siblings: Siblings, present_live_run: PresentLiveRun
) -> list[JSONObject]:
    """Return the members of each answer, without `alongside`."""
    related = present_related(rows)
    beside = _sent_beside([row.pk for row in rows if row.role == Role.USER])
    edited = EditedAnswer.objects.by_message(rows)
    agents = RunSetup.objects.agents_of(rows)
    return [
        _message_members(row, related[row.pk], present_live_run)
        | ({"agent": agents[row.pk]} if row.pk in agents else {})
        | beside.get(row.pk, {})
        | _present_edited(edited.get(row.pk))
        | siblings.present(row)
        for row in rows
    ]


def present_nodes(messages: Iterable[ChatMessage]) -> list[JSONObject]:
    """Present the nodes of a tree. messages: with `run` joined."""
    rows = list(messages)
    edited = EditedAnswer.objects.by_message(rows)
    return [_present_node(row, edited.get(row.pk)) for row in rows]


def _present_edited(edited: EditedAnswer | None) -> JSONObject:
    """Return the members of an answer whose text the user wrote; empty for other messages."""
    if edited is None:
        return {}
    model = {"model": edited.model} if edited.model else {}
    return {**model, "edited_from": edited.original_id}


def _present_node(message: ChatMessage, edited: EditedAnswer | None) -> JSONObject:
    run = run_of(message)
    is_summary = message.role == Role.SUMMARY
    members = {
        "parent": message.parent_id,
        "status": run.status if run else Status.COMPLETED,
        "latest_child": message.latest_child_id,
        "model": run.model if run else None,
        "last_summarized_message": message.last_summarized_message_id if is_summary else UNSET,
    }
    return NodeAnswer.from_row(message, **members | _present_edited(edited)).json()


def _message_members(
    message: ChatMessage, related: JSONObject, present_live_run: PresentLiveRun
) -> JSONObject:
    """Return the members of a message. related: from present_related; a live text ends after the last of its calls."""
    members: JSONObject = {
        "id": message.pk,
        "parent": message.parent_id,
        "role": message.role,
        "text": message.text,
        "status": Status.COMPLETED,
        "sent_at": message.sent_at,
        "token_count": message.token_count,
        "reasoning": message.reasoning or UNSET,
    }
    run = run_of(message)
    if run:
        members |= _answer_members(message, run, present_live_run, related["tool_calls"])
    feedback = getattr(message, "feedback", None)
    if feedback:
        members["feedback"] = FeedbackAnswer.from_row(feedback)
    return related | members


def _answer_members(
    message: ChatMessage, run: Run, present_live_run: PresentLiveRun, tool_calls: Sequence[ToolCallAnswer]
) -> JSONObject:
    presented: JSONObject = {
        "status": run.status,
        "model": run.model,
        "run": run.pk,
        "error": present_error(run),
    }
    if run.is_live:
        run.message = message
        presented |= present_live_run(run, [call.json() for call in tool_calls])
        return presented
    if run.reasoning_ms is not None:
        presented["reasoning_ms"] = run.reasoning_ms
    if run.may_go_on:
        presented["is_continuable"] = _is_continuable(message, run)
    return presented | present_cut(run)


def _is_continuable(message: ChatMessage, run: Run) -> bool:
    """Return whether the answer of a run that may go on can be continued; in the end GO_ON in sql/runs.py decides."""
    is_last = message.latest_child_id is None
    allows_more = run_limits().allow_more(run.spending, len(message.text))
    return is_last and allows_more and message.text != "" and run.model_config_id is not None


def _sent_beside(questions: Sequence[UUID]) -> dict[UUID, JSONObject]:
    """Return the members `additional_context` or `instructions`, `knowledge_bases` and `earlier_knowledge_bases` by question.
    Questions that were sent without any are left out.
    """
    given = Turn.objects.sent_beside_each(questions) if questions else {}
    shown: dict[UUID, JSONObject] = {}
    for question, beside in given.items():
        name = "instructions" if beside.instructs else "additional_context"
        shown[question] = {name: beside.additional_context} if beside.additional_context else {}
        shown[question] |= {"knowledge_bases": beside.knowledge_bases} if beside.knowledge_bases else {}
        shown[question] |= {"earlier_knowledge_bases": beside.earlier_bases} if beside.earlier_bases else {}
    return shown
