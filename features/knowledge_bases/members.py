"""Members of a knowledge base: what their roles allow, their acceptance of these, and the record of changes.

Changes of one base wait for each other, so that two owners who leave at the same time do not leave it without an owner.
The base counts in the quotas of one of its owners. It is passed on only to an owner who has agreed and has room for it
(decision 0115).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from rest_framework.request import Request

from chat.events import knowledge_bases as events
from chat.infrastructure.background import call_after_commit
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.sweeper.base_deletion import check_owner
from chat.turns.knowledge_bases import accept_chosen
from knowledge.models import KnowledgeBase, KnowledgeBaseMember, MemberRole, MembershipChange
from knowledge.models.knowledge_base import EDITING, READING
from web.rest.api_view import current_user, get_own_row

# Memberships that one user has not accepted, in bases of one other owner.
MAX_INVITATIONS: Final = 20


def get_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base that the user is a member of, with the user's role. Raises ApiError."""
    bases = KnowledgeBase.objects.with_role_of(current_user(request)).select_related("owner")
    return get_own_row(bases, pk, "knowledge_base")


def get_owned_base(request: Request, pk: str) -> KnowledgeBase:
    base = get_base(request, pk)
    if base.role != MemberRole.OWNER:
        raise ApiError("not_allowed")
    return _accepted_by_change(request, base)


def get_readable_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base whose documents the user may read. Raises ApiError; restricted members get `not_found`."""
    base = get_base(request, pk)
    if base.role not in READING:
        raise ApiError("knowledge_base_not_found")
    return base


def get_editable_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base whose documents the user may change. Raises ApiError."""
    base = get_readable_base(request, pk)
    if base.role not in EDITING:
        raise ApiError("not_allowed")
    return _accepted_by_change(request, base)


def _accepted_by_change(request: Request, base: KnowledgeBase) -> KnowledgeBase:
    """Accept the membership for a member who changes the base."""
    if not base.is_accepted:
        accept_chosen(current_user(request).pk, [base.pk])
        base.is_accepted = True
    return base


def add_member(base: KnowledgeBase, actor: User, user_name: str, role: MemberRole) -> KnowledgeBaseMember:
    """Invite a user, who has the rights of the role at once.

    Raises ApiError: `user_not_found`, `already_member`, `too_many_invitations`, or as check_owner().
    """
    with _as_owner(base, actor):
        user = User.objects.filter(username=user_name, is_active=True).first()
        if user is None:
            raise ApiError("user_not_found", field="user")
        if base.members.filter(user=user).exists():
            raise ApiError("already_member", field="user")
        quotas.lock_user(actor)  # this owner's other bases may invite at the same time
        if KnowledgeBaseMember.objects.invited_by(actor, user).count() >= MAX_INVITATIONS:
            raise ApiError("too_many_invitations", max=MAX_INVITATIONS)
        member = base.members.create(user=user, role=role, is_accepted=False, is_ownership_accepted=False)
        _record(base, actor, user, after=role)
    return member


def accept_base(base: KnowledgeBase, user: User, *, with_ownership: bool) -> None:
    """Accept the user's membership. with_ownership: also that the base may count for the user.

    Raises ApiError: `not_allowed` if the user is no owner.
    """
    own = base.members.filter(user=user)
    with transaction.atomic():
        if with_ownership and not own.owners().exists():
            raise ApiError("not_allowed")
        changed = len(own.accept(user, [base.pk]))
        if with_ownership:
            changed += own.owners().filter(is_ownership_accepted=False).update(is_ownership_accepted=True)
        if changed:
            call_after_commit(events.publish_accepted, base.pk, user.pk)


def change_role(base: KnowledgeBase, actor: User, pk: UUID, role: MemberRole) -> KnowledgeBaseMember:
    """Change the role of a member.

    Raises ApiError: `member_not_found`, `last_owner`, `owner_without_room`, or as check_owner().
    """
    with _as_owner(base, actor):
        member = _get(base, pk)
        before = member.role
        if before != role:
            if before == MemberRole.OWNER:
                _leave_an_owner(base, member, actor)
            member.change_role(role)
            _record(base, actor, member.user, before=before, after=role)
            _tell_if_no_reader(member)
    return member


def remove_member(base: KnowledgeBase, actor: User, pk: UUID) -> None:
    """Remove a member: owners remove anybody, other members only themselves.

    Raises ApiError: `member_not_found`, `last_owner`, `owner_without_room`, or as check_owner().
    """
    with _locked_members(base):
        if not base.members.filter(pk=pk, user=actor).exists():
            check_owner(base, actor)
        member = _get(base, pk)
        if member.role == MemberRole.OWNER:
            _leave_an_owner(base, member, actor)
        member.delete()
        _record(base, actor, member.user, before=member.role)
        if member.is_accepted or member.user_id == actor.pk:
            call_after_commit(events.publish_deleted, base.pk, [member.user_id])


@contextmanager
def _as_owner(base: KnowledgeBase, actor: User) -> Iterator[None]:
    with _locked_members(base):
        check_owner(base, actor)
        yield


@contextmanager
def _locked_members(base: KnowledgeBase) -> Iterator[None]:
    """Open a transaction in which nobody else changes members. Tell the readers afterwards: others see no members."""
    with transaction.atomic():
        if not base.change():
            raise ApiError("knowledge_base_not_found")
        yield
        call_after_commit(events.publish_content_changed, base.pk)


def _get(base: KnowledgeBase, pk: UUID) -> KnowledgeBaseMember:
    member = base.members.filter(pk=pk).select_related("user").first()
    if member is None:
        raise ApiError("member_not_found")
    return member


def _leave_an_owner(base: KnowledgeBase, member: KnowledgeBaseMember, actor: User) -> None:
    """Check that another owner has agreed; if the base counts for this member, let it count for one with room for it.

    `actor`, who asks for it, comes first, then the owner who has been a member for longest.
    Raises ApiError: `last_owner`, `owner_without_room`.
    """
    owners = base.members.owners().exclude(pk=member.pk).select_related("user")
    others = [one.user for one in owners if one.is_ownership_accepted or one.user_id == actor.pk]
    if not others:
        raise ApiError("last_owner")
    base.refresh_from_db(fields=["owner"])
    if base.owner_id != member.user_id:
        return
    for user in sorted(others, key=lambda user: user.pk):  # in one order: others lock them too
        quotas.lock_user(user)
    with_room = (user for user in others if quotas.has_room_for_base(user, base))
    heir = actor if actor in others and quotas.has_room_for_base(actor, base) else next(with_room, None)
    if heir is None:
        raise ApiError("owner_without_room")
    base.pass_on(heir.pk)
    call_after_commit(events.publish_changed, base.pk)


def _tell_if_no_reader(member: KnowledgeBaseMember) -> None:
    """Announce the new role to an accepted member who is no reader: readers are told of all changes."""
    if member.is_accepted and member.role not in READING:
        call_after_commit(events.publish_changed_to, member.knowledge_base_id, [member.user_id])


def _record(base: KnowledgeBase, actor: User, user: User, before: str = "", after: str = "") -> None:
    MembershipChange.objects.create(
        knowledge_base=base.pk,
        name=base.name,
        actor=actor.get_username(),
        user=user.get_username(),
        before=before,
        after=after,
    )
