"""Messages of a session: a branch, the whole tree, and which branch is current."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.progress import present_live_messages
from chat.models import ChatMessage, Role, Session
from chat.presenters.messages import present_node
from chat.presenters.sessions import annotate_sessions, present_session
from chat.turns.current_branch import select_branch
from web.rest.openapi import documented
from web.rest.pagination import page_size
from web.rest.schemas import MessageAnswer, NodeAnswer, SessionAnswer
from web.rest.sessions import own_session
from web.rest.view import Endpoint, find, user_of


class MessagesView(Endpoint):
    @documented(
        "messages_list",
        answer=MessageAnswer(many=True),
        query={
            "leaf": "the branch that ends in this message",
            "before": "only what stands before this message",
            "limit": "only the newest, 1 to 1000",
        },
    )
    def get(self, request: Request, session: str) -> Response:
        found = own_session(request, session)
        limit = page_size(request.query_params, None)
        branch = _branch(found, request.query_params).replies().select_related("run", "feedback")
        if limit is None:
            return Response(present_live_messages(branch))
        newest_first = branch.order_by("depth")[:limit]
        return Response(present_live_messages(reversed(newest_first)))


class TreeView(Endpoint):
    @documented("tree_read", answer=NodeAnswer(many=True))
    def get(self, request: Request, session: str) -> Response:
        nodes = own_session(request, session).messages.select_related("run").defer("text", "reasoning")
        return Response([present_node(node) for node in nodes])


class SelectionView(Endpoint):
    @documented("selection_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        session = select_branch(own_message(request, message))
        return Response(present_session(annotate_sessions(Session.objects.filter(pk=session.pk)).get()))


def own_message(request: Request, pk: str) -> ChatMessage:
    messages = ChatMessage.objects.visible_to(user_of(request)).select_related("session", "run")
    return find(messages, pk, "message")


def _branch(session: Session, parameters: Any) -> Any:
    """Root to leaf; `before` ends it above that message."""
    nodes = session.messages.exclude(role=Role.SUMMARY)
    if "leaf" in parameters:
        leaf = find(nodes, parameters["leaf"], "message", field="leaf").pk
    else:
        leaf = session.leaf_id or ChatMessage.objects.root_of(session).pk
    if "before" not in parameters:
        return ChatMessage.objects.branch_to(leaf)
    before = find(nodes, parameters["before"], "message", field="before")
    return ChatMessage.objects.branch_to(before.pk).exclude(pk=before.pk)
