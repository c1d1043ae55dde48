"""Members of a knowledge base: who is one, in which role, and who changed that.

Changes of one base wait for each other, so that two owners who leave side by side do not leave it without one. An owner carries no
quota; the one that the base counts for does, so another one gets it only if there is room for it (decision 0120).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.events import knowledge_bases as events
from chat.infrastructure.after_commit import call_after_commit
from chat.protocol.errors import ApiError
from chat.runs import quotas
from knowledge.models import KnowledgeBase, KnowledgeBaseMember, MemberRole, MembershipChange
from knowledge.models.knowledge_base import READING


def add_member(base: KnowledgeBase, actor: User, user_name: str, role: MemberRole) -> KnowledgeBaseMember:
    """Raises ApiError: `user_not_found`, `already_member`, or that `actor` owns the base no more."""
    with _as_owner(base, actor):
        user = User.objects.filter(username=user_name, is_active=True).first()
        if user is None:
            raise ApiError("user_not_found", field="user")
        if base.members.filter(user=user).exists():
            raise ApiError("already_member", field="user")
        member = base.members.create(user=user, role=role)
        _record(base, actor, user, after=role)
        _tell_if_no_reader(member)
    return member


def change_role(base: KnowledgeBase, actor: User, pk: UUID, role: MemberRole) -> KnowledgeBaseMember:
    """Raises ApiError: `member_not_found`, `last_owner`, `owner_without_room`, or that `actor` owns the base no more."""
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
    """Owners remove anybody, everybody else themselves.

    Raises ApiError: `member_not_found`, `last_owner`, `owner_without_room`, `not_allowed`.
    """
    with _held(base):
        if not base.members.filter(pk=pk, user=actor).exists():
            check_owner(base, actor)
        member = _get(base, pk)
        if member.role == MemberRole.OWNER:
            _leave_an_owner(base, member, actor)
        member.delete()
        _record(base, actor, member.user, before=member.role)
        call_after_commit(events.publish_deleted, base.pk, [member.user_id])


def check_owner(base: KnowledgeBase, actor: User) -> None:
    """Raises ApiError unless `actor` is an owner of the base now."""
    role = KnowledgeBaseMember.objects.roles_of(actor, [base.pk]).get(base.pk)
    if role is None:
        raise ApiError("knowledge_base_not_found")
    if role != MemberRole.OWNER:
        raise ApiError("not_allowed")


@contextmanager
def _as_owner(base: KnowledgeBase, actor: User) -> Iterator[None]:
    with _held(base):
        check_owner(base, actor)
        yield


@contextmanager
def _held(base: KnowledgeBase) -> Iterator[None]:
    """A transaction in which nobody else changes members. Its readers are told afterwards: others see no members."""
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
    """Raise ApiError if this is the last one. If the base counts for this one, let it count for another who has room.

    `actor` before all others, who asks for it; then who has been an owner for longest.
    """
    others = [one.user for one in base.members.owners().exclude(pk=member.pk).select_related("user")]
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
    """Of the own role."""
    if member.role not in READING:
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
