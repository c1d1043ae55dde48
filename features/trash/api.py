"""The routes of the trash: list, restore and delete for good the sessions that the user has deleted.

Moving there and the end of their time are the engine's (chat/sessions/deletion.py, chat/sweeper/purging.py).
"""

from django.urls import path
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Session
from chat.presenters.sessions import (
    SessionAnswer,
    TrashedSessionAnswer,
    annotate_sessions,
    present_session,
    present_trashed_session,
)
from chat.sessions import deletion
from chat.turns.deletion import put_back
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.pagination import PAGE_PARAMETERS, Page
from web.rest.sessions import SessionPagination, present_current


class TrashPage(Page):
    results: list[TrashedSessionAnswer]


class TrashPagination(SessionPagination):
    """Cursor pagination by the time of deletion, the latest first."""

    ordering = ("-deleted_at", "-id")


class TrashView(StrictAPIView):
    @documented(
        "trash_list",
        answer=TrashPage,
        parameters=PAGE_PARAMETERS,
    )
    def get(self, request: Request) -> Response:
        """List the sessions that can be restored, the latest deleted first."""
        trashed = annotate_sessions(Session.with_trash.visible_to(current_user(request)).in_trash())
        page = TrashPagination()
        rows = page.paginate_queryset(trashed, request, view=self) or []
        return page.get_paginated_response([present_trashed_session(session) for session in rows])

    @documented("trash_empty", statuses=(204,))
    def delete(self, request: Request) -> Response:
        """Empty the trash. None of its sessions can be restored any more."""
        Session.with_trash.visible_to(current_user(request)).empty_trash()
        return Response(status=status.HTTP_204_NO_CONTENT)


class TrashedSessionView(StrictAPIView):
    @documented("trash_delete", statuses=(204,))
    def delete(self, request: Request, session: str) -> Response:
        """Delete a session in the trash for good."""
        deletion.delete_from_trash(_get_trashed_session(request, session))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RestorationView(StrictAPIView):
    @documented("trash_restore", answer=SessionAnswer)
    def post(self, request: Request, session: str) -> Response:
        """Restore a session from the trash, as it was when it was deleted. Deleted messages go back into the session
        that they are of, which is answered; they become one of their own if their place is gone.
        """
        trashed = _get_trashed_session(request, session)
        if whole := put_back(trashed):
            return Response(present_current(whole))
        return Response(present_session(deletion.restore_session(trashed)))


def _get_trashed_session(request: Request, pk: str) -> Session:
    return get_own_row(Session.with_trash.visible_to(current_user(request)).in_trash(), pk, "session")


urlpatterns = [
    path("trash/", TrashView.as_view()),
    path("trash/<id:session>/", TrashedSessionView.as_view()),
    path("trash/<id:session>/restoration/", RestorationView.as_view()),
]
