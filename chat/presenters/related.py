"""Files, tool calls and citations of messages as clients see them: one query each, for any number of messages."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.models import Approval, ChatMessage, CitedDocument, MessageFile, Role, ToolCall, ToolCallImage
from chat.models.model_config import tokens_of_file
from chat.models.tool_call import ToolCallStatus
from chat.presenters.files import has_thumbnail
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, choice, doc, with_members
from chat.protocol.call_answers import (
    CHANGED,
    SUMMARY,
    AddressQuestionAnswer,
    CallFacts,
    QuestionAnswer,
    SignInQuestionAnswer,
    SourceAnswer,
    ToolImageAnswer,
)
from chat.transcript.citations import citation_record
from chat.transcript.entries import Image
from chat.transcript.packets import present_image
from knowledge.models import FileKind
from knowledge.texts.reading import Reading

ByMessage = dict[UUID | None, list[Any]]

_EMPTY: Final[tuple[object, ...]] = (None, "", [])


if TYPE_CHECKING:
    _RowMembers = Answer
else:
    _RowMembers = with_members(Answer, Reading, without=("unread_pages", "shown_pages"), are_optional=True)


class MessageFileAnswer(_RowMembers, kw_only=True):
    id: UUID
    name: str
    kind: Annotated[str, choice(FileKind)]
    token_count: int
    has_thumbnail: Annotated[bool | UnsetType, doc("Of a picture.")] = UNSET


class _StoredCall(Answer, kw_only=True):
    id: UUID
    tool_call_id: str
    name: str
    arguments: dict[str, Any]
    response: str
    status: Annotated[str, choice(ToolCallStatus)]
    turn_number: int
    tab_index: int
    asked_arguments: Annotated[
        dict[str, Any] | UnsetType, doc("What the model asked for, if the user edited the arguments.")
    ] = UNSET
    documents: list[SourceAnswer] | UnsetType = UNSET
    structured: Annotated[dict[str, Any] | UnsetType, doc("The response as JSON, of tools that have it.")] = (
        UNSET
    )
    images: Annotated[list[ToolImageAnswer] | UnsetType, doc("That the tool returned.")] = UNSET
    text_before: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    reasoning_ms: int | UnsetType = UNSET


if TYPE_CHECKING:
    _EndedCall = _StoredCall
else:
    _EndedCall = with_members(_StoredCall, CallFacts, are_optional=True)


class ToolCallAnswer(_EndedCall, kw_only=True):
    question: Annotated[QuestionAnswer | UnsetType, doc("What the call asks the user, while it waits.")] = (
        UNSET
    )
    sign_in: Annotated[
        SignInQuestionAnswer | UnsetType,
        doc("What the user has to sign in to, while the call waits for that."),
    ] = UNSET
    address: Annotated[
        AddressQuestionAnswer | UnsetType, doc("Where the user has to go, while the call waits for that.")
    ] = UNSET
    changed: Annotated[str | UnsetType, CHANGED] = UNSET
    summary: Annotated[str | UnsetType, SUMMARY] = UNSET
    children: Annotated[list["ToolCallAnswer"], doc("Those made inside it.")]


class CitationAnswer(Answer, kw_only=True):
    number: int
    document_id: str
    title: str
    url: str | UnsetType = UNSET


def present_related(messages: Iterable[ChatMessage]) -> dict[UUID, JSONObject]:
    """Return the members `files`, `tool_calls` and `citations` of the messages, by message id."""
    rows = list(messages)
    answers = [message.pk for message in rows if message.role == Role.ASSISTANT]
    files = present_files([message.pk for message in rows if message.role == Role.USER])
    calls = _tool_calls(answers)
    citations = present_citations(answers)
    return {
        message.pk: {
            "files": files[message.pk],
            "tool_calls": calls[message.pk],
            "citations": citations[message.pk],
        }
        for message in rows
    }


def present_files(message_ids: Sequence[UUID]) -> ByMessage:
    """Return the member `files` of these user messages."""
    by_message: ByMessage = defaultdict(list)
    if not message_ids:
        return by_message
    rows = MessageFile.objects.chosen().filter(message__in=message_ids)
    for row in rows:
        file = row.file
        counted = file.reading.counted()
        by_message[row.message_id].append(
            MessageFileAnswer.from_row(
                file,
                token_count=tokens_of_file(file),
                has_thumbnail=has_thumbnail(file),
                **{name: counted[name] for name in MessageFileAnswer.__struct_fields__ if name in counted},
            )
        )
    return by_message


def _tool_calls(message_ids: Sequence[UUID]) -> ByMessage:
    """Return the top-level calls, each with the calls made inside it as `children`."""
    by_message: ByMessage = defaultdict(list)
    children: ByMessage = defaultdict(list)
    if not message_ids:
        return by_message
    calls = list(ToolCall.objects.filter(run__message__in=message_ids))
    images = _tool_images([call.pk for call in calls]) if calls else {}
    edited = Approval.objects.asked_before_edits([call.pk for call in calls])
    asked = _questions([call.pk for call in calls if call.status == ToolCallStatus.WAITING])
    for call in calls:
        # Calls inside it follow: the list is filled below.
        presented = _present_tool_call(
            call,
            asked_arguments=edited.get(call.pk, UNSET),
            images=images.get(call.pk, UNSET),
            children=children[call.pk],
            **asked.get(call.pk, {}),
        )
        if call.parent_tool_call_id:
            children[call.parent_tool_call_id].append(presented)
        else:
            by_message[call.message_id].append(presented)
    return by_message


def _tool_images(calls: Sequence[UUID]) -> ByMessage:
    """Return the member `images` of the calls that have some, as packets have it."""
    by_call: ByMessage = defaultdict(list)
    for image in ToolCallImage.objects.visible().filter(tool_call__in=calls):
        file = image.file
        shown = Image(str(file.pk), file.name, "", file.width_px or 0, file.height_px or 0)
        by_call[image.tool_call_id].append(present_image(shown))
    return by_call


def _questions(waiting: Sequence[UUID]) -> dict[UUID, JSONObject]:
    """Return the members `question`, `sign_in`, `address`, `changed` and `summary` that the calls have, as they wait."""
    rows = Approval.objects.undecided().filter(tool_call__in=waiting) if waiting else ()
    return {row.tool_call_id: row.present_asked() for row in rows}


def _present_tool_call(call: ToolCall, **members: Any) -> ToolCallAnswer:
    optional = (
        "documents", "structured", "text_before", "reasoning", "reasoning_ms", *CallFacts.__struct_fields__,
    )  # fmt: skip
    given = {name: getattr(call, name) for name in optional if getattr(call, name) not in _EMPTY}
    return ToolCallAnswer.from_row(call, **given, **members)


def present_citations(message_ids: Sequence[UUID]) -> ByMessage:
    """Return the member `citations` of these answers."""
    by_message: ByMessage = defaultdict(list)
    if not message_ids:
        return by_message
    for cited in CitedDocument.objects.filter(message__in=message_ids):
        by_message[cited.message_id].append(citation_record(cited))
    return by_message
