"""The shared branch, page by page, as all who have the link see it.

It has no ids and no owner; it has reasoning and tool calls only if the owner chose so.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from django.core.cache import caches
from msgspec import UNSET, UnsetType, json

from chat.models import ChatMessage, EditedAnswer, Role, Run, Share, SharedPage, run_of
from chat.models.sql.shares import CALLS_OF_CALLS, CALLS_OF_MESSAGES, MAX_SHOWN_CALLS, ROUND_TEXTS, ShownCall
from chat.models.tool_call import ToolCallStatus
from chat.presenters.json_values import JSONObject
from chat.presenters.related import present_citations, present_files
from chat.presenters.runs import present_cut
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE
from chat.transcript.finish import CUT
from chat.transcript.readable_text import readable_text

# Largest page that is cached. With the number of entries in settings.CACHES it limits the memory of one process.
MAX_CACHED_BYTES: Final = 1024 * 1024


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


def read_page(share: Share, number: int) -> JSONObject:
    """Return page `number`, counted from 1, of a shared branch. share: with its session loaded. Raises ApiError."""
    pages = share.read_pages()
    if not 1 <= number <= len(pages):
        raise ApiError("invalid_pagination")
    key = _cache_key(share, number)
    messages = caches["shared_pages"].get(key) if key else None
    if messages is None:
        messages = present_shared_page(share, pages[number - 1])
        if key and len(json.encode(messages)) <= MAX_CACHED_BYTES:
            caches["shared_pages"].set(key, messages)
    return SharedPageAnswer(
        title=share.shown_title,
        shared_at=share.created_at,
        messages=messages,
        next=number + 1 if number < len(pages) else None,
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


def _cache_key(share: Share, number: int) -> str | None:
    """Return the cache key; None while the last answer is being continued. Messages above it no longer change."""
    run = Run.objects.filter(message=share.leaf_id).values_list("status", "attempt").first()
    if run and run[0] in LIVE:
        return None
    attempt = run[1] if run else 0
    return f"{share.pk}:{share.leaf_id}:{attempt}:{share.shows_details}:{number}"
