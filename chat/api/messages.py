"""Messages of a session: a branch, the whole tree, and which branch is current."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from chat import turns
from chat.api.answers import MessageAnswer, NodeAnswer, SessionAnswer
from chat.api.documented import documented
from chat.api.endpoint import Endpoint, find
from chat.api.pagination import page_size
from chat.api.sessions import own_session
from chat.models import ChatMessage, Role, Session
from chat.shapes import message_shapes, node_shape, readable_sessions, session_shape


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
            return Response(message_shapes(branch))
        newest_first = branch.order_by("depth")[:limit]
        return Response(message_shapes(reversed(newest_first)))


class TreeView(Endpoint):
    @documented("tree_read", answer=NodeAnswer(many=True))
    def get(self, request: Request, session: str) -> Response:
        nodes = own_session(request, session).messages.select_related("run").defer("text", "reasoning")
        return Response([node_shape(node) for node in nodes])


class SelectionView(Endpoint):
    @documented("selection_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        session = turns.select(own_message(request, message))
        return Response(session_shape(readable_sessions(Session.objects.filter(pk=session.pk)).get()))


def own_message(request: Request, pk: str) -> ChatMessage:
    messages = ChatMessage.objects.visible_to(request.user).select_related("session", "run")
    return find(messages, pk, "message")


def _branch(session: Session, parameters: Any) -> Any:
    """Root to leaf; `before` ends it above that message."""
    nodes = session.messages.exclude(role=Role.SUMMARY)
    if "leaf" in parameters:
        leaf = find(nodes, parameters["leaf"], "message", field="leaf").pk
    else:
        leaf = session.leaf_id or session.root.pk
    if "before" not in parameters:
        return ChatMessage.objects.branch_to(leaf)
    before = find(nodes, parameters["before"], "message", field="before")
    return ChatMessage.objects.branch_to(before.pk).exclude(pk=before.pk)
