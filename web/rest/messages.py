"""Views of a session's messages: read a branch or the tree, select, withdraw, change the text, delete."""

from typing import Annotated, Any, Final
from uuid import UUID

from django.http.response import HttpResponseBase
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.branch_parts import as_json, parts_of, present_part
from chat.log.progress import present_live_message
from chat.models import ChatMessage, Role, Session
from chat.models.sql import session_search
from chat.presenters.messages import (
    FoundMessageAnswer,
    MessageAnswer,
    NodeAnswer,
    present_nodes,
)
from chat.presenters.sessions import SessionAnswer
from chat.protocol.answer import Answer, doc
from chat.protocol.body import Body
from chat.turns.current_branch import select_branch
from chat.turns.deletion import delete_message
from chat.turns.edits import change_question, edit_answer, withdraw_question
from chat.turns.request import MessageText
from web.rest.api_view import StrictAPIView, current_user, get_own_row, query_flag
from web.rest.openapi import FLAG, ID, TEXT, documented, query, whole_number
from web.rest.pagination import MAX_PAGE, page_size
from web.rest.request_slots import EXPENSIVE
from web.rest.sessions import get_own_session, present_current
from web.rest.streaming import streamed

# Of a search in one session.
MAX_FOUND: Final = 200


class MessagesView(StrictAPIView):
    slots = EXPENSIVE

    @documented(
        "messages_list",
        answer=list[MessageAnswer],
        parameters=[
            query("leaf", ID, "The branch that ends in this message; default: the current branch."),
            query("before", ID, "Only messages before this one."),
            query("limit", whole_number(1, MAX_PAGE), "Only the newest messages."),
        ],
    )
    def get(self, request: Request, session: str) -> HttpResponseBase:
        """List the messages of a branch, oldest first."""
        found = get_own_session(request, session)
        limit = page_size(request.query_params, None)
        branch = _branch(found, request.query_params, limit).replies()
        parts = parts_of(branch if limit is None else branch.order_by("depth")[:limit])
        if limit is not None:
            parts = [part[::-1] for part in parts[::-1]]
        if len(parts) <= 1:
            return Response(present_part(parts[0]) if parts else [])
        slot = self.keep_slot()
        return streamed(request._request, as_json(parts), slot, content_type="application/json")  # noqa: SLF001


class MessageSearchView(StrictAPIView):
    slots = EXPENSIVE

    @documented(
        "messages_search",
        answer=list[FoundMessageAnswer],
        parameters=[
            query("search", TEXT, "Words, or beginnings of words, that one message has."),
            query("limit", whole_number(1, MAX_FOUND), f"Only the first ones; default {MAX_FOUND}."),
        ],
    )
    def get(self, request: Request, session: str) -> Response:
        """Find messages on all branches of a session, in the order they were sent."""
        found = get_own_session(request, session)
        text = request.query_params.get("search", "").strip()
        limit = page_size(request.query_params, MAX_FOUND, MAX_FOUND)
        hits = session_search.hits_in(found.pk, text, limit or MAX_FOUND) if text else []
        return Response([FoundMessageAnswer(hit.message, hit.excerpt).json() for hit in hits])


class TreeView(StrictAPIView):
    slots = EXPENSIVE

    @documented("tree_read", answer=list[NodeAnswer])
    def get(self, request: Request, session: str) -> Response:
        """List every message of the session without its text, summaries included."""
        nodes = get_own_session(request, session).messages.select_related("run").defer("text", "reasoning")
        return Response(present_nodes(nodes))


class SelectionView(StrictAPIView):
    @documented("selection_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        """Make the branch through this message the current one."""
        session = select_branch(get_own_message(request, message))
        return Response(present_current(session))


class WithdrawalView(StrictAPIView):
    @documented("withdrawal_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        """Withdraw a question that waits for the answer above it. Questions that wait below it take its place."""
        session = withdraw_question(get_own_message(request, message))
        return Response(present_current(session))


def get_own_message(request: Request, pk: str) -> ChatMessage:
    messages = ChatMessage.objects.visible_to(current_user(request)).select_related("session", "run")
    return get_own_row(messages, pk, "message")


def _branch(session: Session, parameters: Any, limit: int | None) -> Any:
    """Return the branch that the query names, which `before` ends above that message.
    limit: at most so many of the newest messages are read.
    """
    at_most = None if limit is None else limit + 1  # `before` itself
    nodes = session.messages.exclude(role=Role.SUMMARY)
    if "leaf" in parameters:
        leaf = get_own_row(nodes, parameters["leaf"], "message", field="leaf").pk
    else:
        leaf = session.leaf_id or ChatMessage.objects.root_of(session).pk
    if "before" not in parameters:
        return ChatMessage.objects.branch_to(leaf, at_most=at_most)
    before = get_own_row(nodes, parameters["before"], "message", field="before")
    return ChatMessage.objects.branch_to(before.pk, at_most=at_most).exclude(pk=before.pk)


class DeletedMessageAnswer(Answer):
    part: Annotated[
        UUID | None, doc("The session in the trash that restores it; null: it is deleted for good.")
    ]


class TextBody(Body):
    text: MessageText


class MessageView(StrictAPIView):
    @documented("messages_update", body=TextBody, answer=MessageAnswer)
    def patch(self, request: Request, message: str) -> Response:
        """Change the text of a question that waits for the answer above it; its files stay."""
        changed = change_question(get_own_message(request, message), self.parse(TextBody).text)
        return Response(present_live_message(ChatMessage.objects.get(pk=changed.pk)))

    @documented(
        "messages_delete",
        answer=DeletedMessageAnswer,
        parameters=[query("permanent", FLAG, "`1`: for good, not into the trash.")],
    )
    def delete(self, request: Request, message: str) -> Response:
        """Delete a question or an answer with all below it; the only answer of a question with the question.
        409 `turn_in_progress` while one of them is being answered.
        """
        is_permanent = query_flag(request, "permanent") or False
        part = delete_message(get_own_message(request, message), for_good=is_permanent)
        return Response(DeletedMessageAnswer(part.pk if part else None).json())


class AnswerEditsView(StrictAPIView):
    @documented("edits_create", body=TextBody, answer=MessageAnswer, statuses=(201,))
    def post(self, request: Request, message: str) -> Response:
        """Store another text for an answer as its sibling. The current branch then ends there."""
        edited = edit_answer(get_own_message(request, message), self.parse(TextBody).text)
        answer = ChatMessage.objects.select_related("run", "feedback").get(pk=edited.pk)
        return Response(present_live_message(answer), status.HTTP_201_CREATED)
