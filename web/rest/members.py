"""Views of the members of a knowledge base."""

from typing import Annotated, Final

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.knowledge_bases import members
from chat.models import LoginLimit
from chat.presenters.knowledge_bases import MemberAnswer, present_member
from chat.protocol.body import Body, patched
from chat.protocol.errors import ApiError
from chat.protocol.member_types import choice, doc
from chat.protocol.members import UserName
from knowledge.models import KnowledgeBase, KnowledgeBaseMember, MemberRole
from knowledge.models.knowledge_base import READING
from web.attempt_limits import charge, spend
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.knowledge_bases import get_base, get_owned_base
from web.rest.openapi import documented

# (unknown names at once, seconds after which one more is allowed): the answer reveals which names exist.
UNKNOWN_NAMES: Final = (20, 60)


_Role = Annotated[str, choice(MemberRole)]


class MemberBody(Body):
    user: Annotated[UserName, doc("The name of a user.")]
    role: _Role


class RoleBody(Body):
    role: _Role


class MembersView(StrictAPIView):
    @documented("members_list", answer=list[MemberAnswer])
    def get(self, request: Request, knowledge_base: str) -> Response:
        """List the members and their roles. Only for members who may read documents."""
        base = get_base(request, knowledge_base)
        if base.role not in READING:
            raise ApiError("not_allowed")
        return Response([present_member(one) for one in base.members.select_related("user")])

    @documented("members_create", body=MemberBody, answer=MemberAnswer, statuses=(201,))
    def post(self, request: Request, knowledge_base: str) -> Response:
        """Make a user a member. Only for owners. After many unknown names, more are refused for some time (429)."""
        base = get_owned_base(request, knowledge_base)
        body, user = self.parse(MemberBody), current_user(request)
        charges = [charge(UNKNOWN_NAMES, "unknown names", str(user.pk))]
        spend(charges)
        added = members.add_member(base, user, body.user, MemberRole(body.role))
        LoginLimit.objects.give_back(charges)
        return Response(present_member(added), status.HTTP_201_CREATED)


class MemberView(StrictAPIView):
    @documented("members_update", body=patched(RoleBody), answer=MemberAnswer)
    def patch(self, request: Request, knowledge_base: str, member: str) -> Response:
        """Change the role of a member. Only for owners. The last owner stays an owner."""
        base = get_owned_base(request, knowledge_base)
        found = _get_member(base, member)
        role = MemberRole(self.parse(patched(RoleBody)).members().get("role", found.role))
        return Response(present_member(members.change_role(base, current_user(request), found.pk, role)))

    @documented("members_delete", statuses=(204,))
    def delete(self, request: Request, knowledge_base: str, member: str) -> Response:
        """Remove a member. Owners may remove anybody, others only themselves. The last owner cannot be removed."""
        base, user = get_base(request, knowledge_base), current_user(request)
        if base.role != MemberRole.OWNER and member.lower() != str(base.member):
            raise ApiError("not_allowed")
        members.remove_member(base, user, _get_member(base, member).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _get_member(base: KnowledgeBase, pk: str) -> KnowledgeBaseMember:
    return get_own_row(base.members.all(), pk, "member")
