"""Links by which anybody reads a branch of a session: made, listed, changed, revoked by its owner."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ChatMessage, Session, Share
from chat.presenters.shares import present_share
from chat.protocol.errors import ApiError
from chat.sessions.sharing import change_share, create_share
from web.rest.fields import Boolean, Id, StrictSerializer
from web.rest.openapi import documented
from web.rest.schemas import ShareAnswer
from web.rest.sessions import own_session
from web.rest.view import Endpoint, find

# Of one session at once; nobody keeps an overview of more.
MAX_SHARES = 100


class ShareBody(StrictSerializer):
    leaf = Id(required=False)
    shows_details = Boolean(required=False)


class SharesView(Endpoint):
    @documented("shares_list", answer=ShareAnswer(many=True))
    def get(self, request: Request, session: str) -> Response:
        """The links that work, newest first."""
        found = own_session(request, session)
        return Response([present_share(share) for share in found.shares.open().select_related("session")])

    @documented("shares_create", body=ShareBody, answer=ShareAnswer, statuses=(201,))
    def post(self, request: Request, session: str) -> Response:
        """A new link. What comes below `leaf` later is not shown; left out, that is the end of the current branch."""
        found = own_session(request, session)
        body = self.body(ShareBody)
        if found.shares.open().count() >= MAX_SHARES:
            raise ApiError("too_many_shares")
        leaf = _leaf(found, body)
        share = create_share(found, leaf, shows_details=body.get("shows_details", False))
        share.session = found
        return Response(present_share(share), status.HTTP_201_CREATED)


class ShareView(Endpoint):
    @documented("shares_update", body=ShareBody, answer=ShareAnswer)
    def patch(self, request: Request, share: str) -> Response:
        """Another end of the branch, or more or less of it, behind the same link."""
        found = _own_share(request, share)
        body = self.body(ShareBody)
        leaf = _leaf(found.session, body)
        body.pop("leaf", None)
        change_share(found, leaf, **body)
        return Response(present_share(found))

    @documented("shares_delete", statuses=(204,))
    def delete(self, request: Request, share: str) -> Response:
        """Revoked: from now on the link leads nowhere."""
        _own_share(request, share).revoke()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own_share(request: Request, pk: str) -> Share:
    return find(Share.objects.visible_to(request.user).open().select_related("session"), pk, "share")


def _leaf(session: Session, body: dict[str, Any]) -> ChatMessage | None:
    if "leaf" not in body:
        return None
    return find(session.messages.all(), str(body["leaf"]), "message", field="leaf")
