"""Shares as clients see them: the link for its owner, and the shared branch for all who have the link.

The shared branch has no ids and no owner; it has reasoning and tool calls only if the owner chose so.
"""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from msgspec import json

from chat.models import ChatMessage, EditedAnswer, Role, Share, SharedPage, run_of
from chat.models.sql.shares import CALLS_OF_CALLS, CALLS_OF_MESSAGES, MAX_SHOWN_CALLS, ROUND_TEXTS, ShownCall
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.presenters.related import present_citations, present_files
from chat.presenters.runs import present_cut
from chat.transcript.passages import readable_text


def present_share(share: Share) -> JSONObject:
    """share: with its session. url: relative to the site; null if the token cannot be derived any more."""
    return {
        "id": str(share.pk),
        "session": str(share.session_id),
        "leaf": str(share.leaf_id),
        "url": f"/shared/{share.token}/" if share.token else None,
        "is_current": share.leaf_id == share.session.leaf_id,
        "shows_details": share.shows_details,
        "created_at": isoformat_utc(share.created_at),
    }


def present_shared_page(share: Share, page: SharedPage) -> list[JSONObject]:
    """The messages of one page of the branch behind the link, oldest first.

    What is read depends neither on the length of the branch nor on the number of tool calls of its answers.
    """
    branch = ChatMessage.objects.branch_to(page.last, at_most=page.messages).replies().select_related("run")
    messages = list(branch if share.shows_details else branch.defer("reasoning"))
    answers = [message.pk for message in messages if message.role == Role.ASSISTANT]
    files = present_files([message.pk for message in messages if message.role == Role.USER])
    citations = present_citations(answers)
    rounds = _round_texts(answers)
    edited = EditedAnswer.objects.by_message(messages)
    presented = [
        _present_message(message, edited.get(message.pk))
        | {
            "text": readable_text(message.text, rounds[message.pk]),
            "files": [file["name"] for file in files[message.pk]],
            "citations": [_without_ids(citation) for citation in citations[message.pk]],
        }
        for message in messages
    ]
    if share.shows_details:
        calls = _ShownCalls(answers)
        for message, shown in zip(messages, presented, strict=True):
            shown |= {"reasoning": message.reasoning, **calls.present(message.pk)}
    return presented


def _present_message(message: ChatMessage, edited: EditedAnswer | None) -> JSONObject:
    run = run_of(message)
    presented: JSONObject = {"role": message.role, "sent_at": isoformat_utc(message.sent_at)}
    if edited:
        # Readers must not take it for what the model wrote.
        return presented | {"model": edited.model, "is_edited": True}
    return presented | ({"model": run.model, "error": run.error_message} | present_cut(run) if run else {})


def _without_ids(citation: JSONObject) -> JSONObject:
    return {"number": citation["number"], "title": citation["title"], "url": citation.get("url", "")}


def _round_texts(answers: Sequence[UUID]) -> dict[UUID, list[tuple[int, str]]]:
    """Of each answer, what readable_text() is given."""
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
            # One more, which tells that there are more.
            rows = statement.all(parents=parents, limit=MAX_SHOWN_CALLS + 1)
            for row in rows:
                self._below[row.parent].append(row)
            statement, parents = CALLS_OF_CALLS, [row.id for row in rows]

    def present(self, answer: UUID) -> JSONObject:
        """The members `tool_calls` and, if some are left out, `has_more_tool_calls`."""
        shown: list[JSONObject] = []
        left = list(reversed(self._below[answer]))
        while left and len(shown) < MAX_SHOWN_CALLS:
            call = left.pop()
            shown.append(_present_call(call))
            left += reversed(self._below[call.id])
        return {"tool_calls": shown} | ({"has_more_tool_calls": True} if left else {})


def _present_call(call: ShownCall) -> JSONObject:
    presented = {
        "name": call.name,
        "status": call.status,
        "arguments": json.decode(call.arguments),
        "response": call.response,
    }
    return presented | ({"is_shortened": True} if call.is_shortened else {})
