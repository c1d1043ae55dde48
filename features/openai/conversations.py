"""Conversations of OpenAI's API: each is a stored session, and its items are those of its current branch."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Annotated, Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from msgspec import UNSET, UnsetType, json

from chat.models import Approval, ChatMessage, Role, Run, Session, ToolCall
from chat.presenters.page_bytes import count_fitting
from chat.protocol.answer import Answer, doc
from chat.protocol.body import Body, rule
from chat.protocol.errors import ApiError
from features.openai.approvals import present_decisions
from features.openai.authentication import Caller
from features.openai.conversation import ToldInput
from features.openai.errors import ObjectName
from features.openai.files import stored_files
from features.openai.models import ConversationMetadata
from features.openai.offered_models import unnamed_model
from features.openai.response_body import Metadata, named_as_sent, parse_items
from features.openai.response_input import (
    list_items,
    present_later_outputs,
    present_question,
    present_rounds,
)
from features.openai.response_parts import ResponsePart
from features.openai.responses import conversation_id, find_session, present_response
from features.openai.turns import open_session

_NO_CONVERSATION: Final = "There is no such conversation."
_NO_ITEM: Final = "There is no such item."
# The UUID of a message, run, call or approval, and what tells those of one run apart.
_ITEM: Final = re.compile(r"[a-z]+_([0-9a-f]{32})[0-9a-f]{0,6}")
# Members of what is stored -> what the client called them.
_FIELDS: Final = {"files": "items", "file": "items"}


class OpenAIConversationAnswer(Answer):
    id: str
    object: ObjectName
    created_at: Annotated[int, doc("Seconds since 1970.")]
    metadata: dict[str, str]


def _parse_told(value: Any) -> ToldInput:
    """Parse what a conversation begins with. Raises ApiError."""
    if not isinstance(value, list):
        raise ApiError("invalid_type", "Expected an array.")
    history = parse_items(value)
    history.conversation.check_outputs()
    if history.instructions:
        raise ApiError("invalid_value", "A conversation has no instructions: each response has its own.")
    if history.approvals or history.conversation.outputs:
        raise ApiError("invalid_value", "There is nothing here that they could answer.")
    return history


class OpenAIConversationBody(Body):
    items: (
        Annotated[
            Any,
            rule(_parse_told, {"type": "array", "items": {}}),
            doc("Messages with texts and files, and calls of functions with their outputs."),
        ]
        | UnsetType
        | None
    ) = UNSET
    metadata: Metadata | UnsetType | None = UNSET


class OpenAIConversationChangesBody(Body):
    metadata: Metadata


def create_conversation(caller: Caller, body: OpenAIConversationBody) -> Session:
    """Create a session that begins with the items. Raises ApiError; then nothing is stored."""
    history: ToldInput = body.items or ToldInput.start()
    agent = unnamed_model(caller)
    exchanges = history.conversation.exchanges
    with named_as_sent(_FIELDS), stored_files(caller, exchanges, history.inline), transaction.atomic():
        session = open_session(caller.user, exchanges, model="", agent=agent)
        if body.metadata:
            ConversationMetadata.objects.store(session, body.metadata)
    return session


def replace_metadata(session: Session, metadata: dict[str, str]) -> None:
    """Store the metadata in the place of what there was. Raises ApiError."""
    try:
        ConversationMetadata.objects.store(session, metadata)
    except IntegrityError:
        # The session is deleted meanwhile.
        raise ApiError("not_found", _NO_CONVERSATION) from None


def find_conversation(caller: Caller, name: str) -> Session:
    """Return the caller's session of this id. Raises ApiError."""
    session = find_session(caller, name)
    if session is None:
        raise ApiError("not_found", _NO_CONVERSATION)
    return session


def present_conversation(session: Session) -> dict[str, Any]:
    return OpenAIConversationAnswer(
        conversation_id(session.pk),
        "conversation",
        int(session.created_at.timestamp()),
        ConversationMetadata.objects.read(session),
    ).json()


def present_items(session: Session, after: str | None, limit: int, *, newest_first: bool) -> dict[str, Any]:
    """Return the list of the items behind `after`: `limit`, or fewer if they are long. Raises ApiError if there is no
    such item."""
    if after:
        _, behind = _find_item(session, after, newest_first=newest_first, field="after")
    else:
        behind = _items(_load_branch(session, newest_first=newest_first), newest_first=newest_first)
    page: list[dict[str, Any]] = []
    count = count_fitting(_measured(islice(behind, limit), page))
    return list_items(page[:count], has_more=len(page) > count or next(behind, None) is not None)


def _measured(items: Iterable[dict[str, Any]], page: list[dict[str, Any]]) -> Iterator[int]:
    """Add the items to the page, one after the other, and yield their bytes."""
    for item in items:
        page.append(item)
        yield len(json.encode(item))


def present_item(session: Session, name: str) -> dict[str, Any]:
    """Return one item. Raises ApiError."""
    item, _ = _find_item(session, name, newest_first=True)
    return item


def _find_item(
    session: Session, name: str, *, newest_first: bool, field: str | None = None
) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return the item of this id, and those behind it. Raises ApiError, with this field.

    Only the message that has the item is presented.
    """
    branch, owners = _load_branch(session, newest_first=newest_first), _find_owners(name)
    place = next((place for place, row in enumerate(branch) if not owners.isdisjoint(row)), len(branch))
    items = _items(branch[place : place + 1], newest_first=newest_first)
    item = next((item for item in items if item["id"] == name), None)
    if item is None:
        raise ApiError("not_found", _NO_ITEM, field=field)
    return item, chain(items, _items(branch[place + 1 :], newest_first=newest_first))


def _find_owners(name: str) -> set[UUID]:
    """Return the ids of messages and runs that an item of this id may belong to."""
    parsed = _ITEM.fullmatch(name)
    if parsed is None:
        return set()
    pk = UUID(parsed[1])
    of_call = ToolCall.objects.filter(pk=pk).values_list("run", flat=True)
    of_approval = Approval.objects.filter(pk=pk).values_list("tool_call__run", flat=True)
    return {pk, *of_call, *of_approval}


def _load_branch(session: Session, *, newest_first: bool) -> list[tuple[UUID, UUID | None]]:
    """Load the ids of the messages of the current branch, and of their runs."""
    if session.leaf_id is None:
        return []
    branch = ChatMessage.objects.branch_to(session.leaf_id).replies()
    rows: list[tuple[UUID, UUID | None]] = [*branch.values_list("pk", "run")]
    return rows[::-1] if newest_first else rows


def _items(rows: Iterable[tuple[UUID, UUID | None]], *, newest_first: bool) -> Iterator[dict[str, Any]]:
    """Yield the items of messages; one that is deleted meanwhile has none."""
    for pk, run in rows:
        of_message = _items_of_run(run) if run else _items_without_run(pk)
        yield from reversed(of_message) if newest_first else of_message


def _items_without_run(pk: UUID) -> list[dict[str, Any]]:
    """Return the item of a question, or of an answer that its user has written."""
    message = ChatMessage.objects.filter(pk=pk).first()
    if message is None:
        return []
    item = present_question(message)
    if message.role == Role.USER:
        return [item]
    part = {"type": "output_text", "text": message.text, "annotations": [], "logprobs": []}
    return [{**item, "role": "assistant", "content": [part]}]


def _items_of_run(pk: UUID) -> list[dict[str, Any]]:
    """Return what an answer was given, and the output of each of its responses behind what was decided before it."""
    run = Run.objects.for_work().filter(pk=pk).first()
    if run is None:
        return []
    last = ResponsePart.load_last(run)
    items = present_rounds(run)
    for number in range(last.number + 1):
        part = ResponsePart(run, number, last.waits)
        items += present_decisions(part.before) if part.start else []
        items += present_response(part)["output"]
    return items + present_later_outputs(run)
