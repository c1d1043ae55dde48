"""Views of signing in to an MCP server: users for themselves, or staff for all users if the server is set up so."""

from typing import Annotated

from django.urls import reverse
from rest_framework import status
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models.mcp_server import McpServer
from chat.protocol.answer import ADDRESS, Answer, Moment, doc
from features.mcp.sign_ins import begin_sign_in, sign_out
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.site_origin import site_url


class McpUserPermission(IsAuthenticated):
    """Every logged-in user, since servers are for all.
    Use cases check who may sign in for all users, and what was listed to whom.
    """


class McpSignInAnswer(Answer):
    url: Annotated[
        str,
        ADDRESS,
        doc(
            "To be opened in a browser in which the user is logged in here; it leads to the server's sign-in."
        ),
    ]
    expires_at: Moment


class McpSignInView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [McpUserPermission]

    @documented("mcp_servers_sign_in", answer=McpSignInAnswer, statuses=(201,))
    def post(self, request: Request, server: str) -> Response:
        """Begin to sign in to an MCP server.
        For a server that all users share, this requires staff with the permission to change servers.
        """
        row = get_enabled_server(server)
        sign_in = begin_sign_in(current_user(request), row, site_url(reverse("mcp_callback")))
        url = site_url(reverse("mcp_sign_in", args=[sign_in.pk]))
        answer = McpSignInAnswer(url=url, expires_at=sign_in.expires_at)
        return Response(answer.json(), status.HTTP_201_CREATED)

    @documented("mcp_servers_sign_out", statuses=(204,))
    def delete(self, request: Request, server: str) -> Response:
        """Sign out of an MCP server. The stored tokens for calls of its tools are deleted."""
        sign_out(current_user(request), get_enabled_server(server))
        return Response(status=status.HTTP_204_NO_CONTENT)


def get_enabled_server(pk: str) -> McpServer:
    """Return the enabled server. Raises ApiError."""
    return get_own_row(McpServer.objects.without_documents().filter(is_enabled=True), pk, "mcp_server")
