"""The routes of public links to a branch: owners create, list, update and revoke them, and visitors read the branch."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from msgspec import UNSET, UnsetType, json
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ChatMessage, Role, Run, Session, Share
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, doc
from chat.protocol.body import Body, LifetimeDays
from chat.protocol.errors import ApiError
from chat.sessions.settings import check_listed
from features.sharing.shared_page import SharedPageAnswer, read_page
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented, query, whole_number
from web.rest.pagination import MAX_COUNT, page_number
from web.rest.request_slots import SHARED
from web.rest.sessions import get_own_session

# The most open links of one session.
MAX_SHARES = 100


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


class ShareBody(Body):
    leaf: UUID | UnsetType = UNSET
    shows_details: bool | UnsetType = UNSET
    expires_in_days: Annotated[
        LifetimeDays | UnsetType | None,
        doc("From now. Null: no end, as a new link has without it; a change without it keeps the end."),
    ] = UNSET

    def fields(self) -> dict[str, Any]:
        """Return the members that were sent, with the moment `expires_at` in place of the days."""
        sent = self.members()
        if "expires_in_days" in sent:
            days = sent.pop("expires_in_days")
            sent["expires_at"] = None if days is None else timezone.now() + timedelta(days=days)
        return sent


class SharesView(StrictAPIView):
    @documented("shares_list", answer=list[ShareAnswer])
    def get(self, request: Request, session: str) -> Response:
        """List the open links, newest first."""
        found = get_own_session(request, session)
        return Response([present_share(share) for share in found.shares.open().select_related("session")])

    @documented("shares_create", body=ShareBody, answer=ShareAnswer, statuses=(201,))
    def post(self, request: Request, session: str) -> Response:
        """Create a link to the branch that ends in `leaf` (default: the current leaf). Later messages are not shown."""
        found = get_own_session(request, session)
        body = self.parse(ShareBody).fields()
        if found.shares.open().count() >= MAX_SHARES:
            raise ApiError("too_many_shares")
        leaf = _find_leaf(found, body)
        share = create_share(
            found, leaf, shows_details=body.get("shows_details", False), expires_at=body.get("expires_at")
        )
        share.session = found
        return Response(present_share(share), status.HTTP_201_CREATED)


class ShareView(StrictAPIView):
    @documented("shares_update", body=ShareBody, answer=ShareAnswer)
    def patch(self, request: Request, share: str) -> Response:
        """Change the leaf of the branch, whether details are shown, or the end. The link stays the same."""
        found = _get_own_share(request, share)
        body = self.parse(ShareBody).fields()
        leaf = _find_leaf(found.session, body)
        body.pop("leaf", None)
        change_share(found, leaf, **body)
        return Response(present_share(found))

    @documented("shares_delete", statuses=(204,))
    def delete(self, request: Request, share: str) -> Response:
        """Revoke a link. From now on it responds with 404."""
        _get_own_share(request, share).revoke()
        return Response(status=status.HTTP_204_NO_CONTENT)


class SharedPageView(StrictAPIView):
    """A public view: the link is the permission, and no cookie is read."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @documented(
        "shared_read",
        answer=SharedPageAnswer,
        parameters=[
            query("page", whole_number(1, MAX_COUNT), "From 1, the default; `next` names the one after it.")
        ],
    )
    def get(self, request: Request, link: str) -> HttpResponseBase:
        """Read a page of the branch behind a public link, oldest messages first. Short branches are one page.

        The ETag serves clients that store a page themselves: no cache may store the response (Cache-Control: no-store).
        """
        number = page_number(request.query_params)
        share = Share.objects.behind(link)
        if share is None:
            raise ApiError("share_not_found")
        with SHARED.take(share.session.owner_id):
            page = read_page(share, number)
        etag = quote_etag(sha256(json.encode(page)).hexdigest())
        response = Response(page, headers={"ETag": etag, "X-Robots-Tag": "noindex"})
        own = request._request  # noqa: SLF001  the server's own request
        return get_conditional_response(own, etag=etag, response=response) or response


def present_share(share: Share) -> JSONObject:
    """Present a share with its session. url: relative to the site; null if the token cannot be derived any more."""
    return ShareAnswer.from_row(
        share,
        session=share.session_id,
        leaf=share.leaf_id,
        url=f"/shared/{share.token}/" if share.token else None,
        is_current=share.leaf_id == share.session.leaf_id,
    ).json()


def _get_own_share(request: Request, pk: str) -> Share:
    return get_own_row(
        Share.objects.visible_to(current_user(request)).open().select_related("session"), pk, "share"
    )


def _find_leaf(session: Session, body: dict[str, Any]) -> ChatMessage | None:
    if "leaf" not in body:
        return None
    return get_own_row(session.messages.all(), str(body["leaf"]), "message", field="leaf")


def create_share(
    session: Session, leaf: ChatMessage | None, *, shows_details: bool, expires_at: datetime | None = None
) -> Share:
    """Share the branch that ends in `leaf`; None means the current branch. Raises ApiError."""
    check_listed(session)
    return Share.objects.start(
        _checked_leaf(leaf or ChatMessage.objects.tip_of(session)),
        shows_details=shows_details,
        expires_at=expires_at,
    )


def change_share(share: Share, leaf: ChatMessage | None, **fields: bool | datetime | None) -> None:
    """Set shows_details, expires_at, or another leaf with the current title; None keeps both. The link stays. Raises ApiError."""
    shared_again = {"leaf": _checked_leaf(leaf), "title": share.session.title} if leaf else {}
    share.change(**fields, **shared_again)


def _checked_leaf(leaf: ChatMessage) -> ChatMessage:
    """Return `leaf` if neither it nor the messages above it change any more; raise ApiError otherwise.
    Questions below an answer in progress may still be changed or withdrawn."""
    if leaf.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "There is nothing to share yet.", field="leaf")
    branch = list(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
    if Run.objects.live().filter(message__in=branch).exists():
        raise ApiError("turn_in_progress", field="leaf")
    return leaf


urlpatterns = [
    path("sessions/<id:session>/shares/", SharesView.as_view()),
    path("shares/<id:share>/", ShareView.as_view()),
    path("shared/<str:link>/", SharedPageView.as_view()),
]
