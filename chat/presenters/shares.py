"""Shares as clients see them: the link for its owner, and the shared branch for all who have the link.

The shared branch has no ids and no owner; it has reasoning and tool calls only if the owner chose so.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, UnsetType, json

from chat.models import ChatMessage, EditedAnswer, Role, Share, SharedPage, run_of
from chat.models.sql.shares import CALLS_OF_CALLS, CALLS_OF_MESSAGES, MAX_SHOWN_CALLS, ROUND_TEXTS, ShownCall
from chat.models.tool_call import ToolCallStatus
from chat.presenters.json_values import JSONObject
from chat.presenters.related import present_citations, present_files
from chat.presenters.runs import present_cut
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, choice, doc
from chat.transcript.finish import CUT
from chat.transcript.passages import readable_text


class SharedCallAnswer(Answer, kw_only=True):
    name: str
    status: Annotated[str, choice(ToolCallStatus)]
    arguments: Annotated[dict[str, Any], doc("Empty if they are very long.")]
    response: str
    is_shortened: Annotated[
        bool | UnsetType, doc("Whether there is more of the arguments or the response.")
    ] = UNSET


class SharedCitationAnswer(Answer):
    number: int
    title: str
    url: str


class SharedMessageAnswer(Answer, kw_only=True):
    role: Annotated[str, choice(Role)]
    text: str
    sent_at: Moment
    files: list[str]
    citations: list[SharedCitationAnswer]
    model: str | UnsetType = UNSET
    is_edited: Annotated[
        bool | UnsetType, doc("True: the owner of the chat wrote the text, after that of the model.")
    ] = UNSET
    error: str | UnsetType = UNSET
    finish_reason: Annotated[str | UnsetType, choice(CUT)] = UNSET
    finish_tokens: int | UnsetType = UNSET
    reasoning: Annotated[str | UnsetType, doc("Only if the owner shows details.")] = UNSET
    tool_calls: Annotated[list[SharedCallAnswer] | UnsetType, doc("Only if the owner shows details.")] = UNSET
    has_more_tool_calls: Annotated[bool | UnsetType, doc("Whether there are more than are listed.")] = UNSET


class SharedPageAnswer(Answer):
    title: str
    shared_at: Moment
    messages: list[SharedMessageAnswer]
    next: Annotated[int | None, doc("The number of the next page.")]


class ShareAnswer(Answer):
    id: UUID
    session: UUID
    leaf: UUID
    url: str | None
    is_current: bool
    shows_details: bool
    created_at: Moment
    expires_at: Annotated[
        Moment | None, doc("Null: no end. An expired link is not found until it gets another.")
    ]


def present_share(share: Share) -> JSONObject:
    """Present a share with its session. url: relative to the site; null if the token cannot be derived any more."""
    return ShareAnswer.from_row(
        share,
        session=share.session_id,
        leaf=share.leaf_id,
        url=f"/shared/{share.token}/" if share.token else None,
        is_current=share.leaf_id == share.session.leaf_id,
    ).json()


def present_shared_page(share: Share, page: SharedPage) -> list[SharedMessageAnswer]:
    """Present the messages of one page of the branch behind the link, oldest first.

    The amount that is read depends neither on the length of the branch nor on the number of tool calls of its answers.
    """
    branch = ChatMessage.objects.branch_to(page.last, at_most=page.messages).replies().select_related("run")
    messages = list(branch if share.shows_details else branch.defer("reasoning"))
    answers = [message.pk for message in messages if message.role == Role.ASSISTANT]
    files = present_files([message.pk for message in messages if message.role == Role.USER])
    citations = present_citations(answers)
    rounds = _round_texts(answers)
    edited = EditedAnswer.objects.by_message(messages)
    calls = _ShownCalls(answers) if share.shows_details else None
    return [
        SharedMessageAnswer.from_row(
            message,
            text=readable_text(message.text, rounds[message.pk]),
            files=[file.name for file in files[message.pk]],
            citations=[_without_ids(citation) for citation in citations[message.pk]],
            **_author(message, edited.get(message.pk)),
            **({"reasoning": message.reasoning, **calls.present(message.pk)} if calls else {}),
        )
        for message in messages
    ]


def _author(message: ChatMessage, edited: EditedAnswer | None) -> JSONObject:
    """Return the members that say who wrote a message, and whether it is whole."""
    run = run_of(message)
    if edited:
        # Readers must not take it for what the model wrote.
        return {"model": edited.model, "is_edited": True}
    return {"model": run.model, "error": run.error_message} | present_cut(run) if run else {}


def _without_ids(citation: JSONObject) -> SharedCitationAnswer:
    return SharedCitationAnswer(
        number=citation["number"], title=citation["title"], url=citation.get("url", "")
    )


def _round_texts(answers: Sequence[UUID]) -> dict[UUID, list[tuple[int, str]]]:
    """Return the rounds that readable_text() takes, by answer."""
    texts: dict[UUID, list[tuple[int, str]]] = defaultdict(list)
    for row in ROUND_TEXTS.all(messages=answers) if answers else ():
        texts[row.message].append((row.turn_number, row.text_before))
    return texts


class _ShownCalls:
    """The first MAX_SHOWN_CALLS tool calls of each answer, each followed by the calls made inside it."""

    def __init__(self, answers: Sequence[UUID]) -> None:
        self._below: dict[UUID, list[ShownCall]] = defaultdict(list)
        statement, parents = CALLS_OF_MESSAGES, list(answers)
        while parents:
            # One call more than is shown tells that there are more.
            rows = statement.all(parents=parents, limit=MAX_SHOWN_CALLS + 1)
            for row in rows:
                self._below[row.parent].append(row)
            statement, parents = CALLS_OF_CALLS, [row.id for row in rows]

    def present(self, answer: UUID) -> JSONObject:
        """Return the members `tool_calls` and, if some are left out, `has_more_tool_calls`."""
        shown: list[SharedCallAnswer] = []
        left = list(reversed(self._below[answer]))
        while left and len(shown) < MAX_SHOWN_CALLS:
            call = left.pop()
            shown.append(_present_call(call))
            left += reversed(self._below[call.id])
        return {"tool_calls": shown} | ({"has_more_tool_calls": True} if left else {})


def _present_call(call: ShownCall) -> SharedCallAnswer:
    return SharedCallAnswer.from_row(
        call, arguments=json.decode(call.arguments), is_shortened=True if call.is_shortened else UNSET
    )
