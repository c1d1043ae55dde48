"""The groups with which a user may share agents."""

from typing import Annotated, Any

from django.contrib.auth.models import Group, User
from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.answer import Answer
from chat.protocol.member_types import doc
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented


class GroupAnswer(Answer):
    id: int
    name: str
    is_member: Annotated[bool, doc("Whether the user is one.")]


class GroupsView(StrictAPIView):
    @documented("groups_list", answer=list[GroupAnswer])
    def get(self, request: Request) -> Response:
        """List the groups with which the user may share agents, or has done so, by name."""
        user = current_user(request)
        own = set(user.groups.values_list("pk", flat=True))
        shared = Group.objects.filter(agents__owner=user).values("pk")
        groups = Group.objects.filter(Q(pk__in=groups_to_share_with(user)) | Q(pk__in=shared))
        return Response([_present(group, own) for group in groups.order_by("name")])


def groups_to_share_with(user: User) -> QuerySet[Group, Any]:
    """Return all groups for staff who may change agents, and the own groups for other users."""
    if user.is_staff and user.has_perm("chat.change_agent"):
        return Group.objects.all()
    return Group.objects.filter(user=user)


def _present(group: Group, own: set[int]) -> dict[str, Any]:
    return GroupAnswer.from_row(group, is_member=group.pk in own).json()
