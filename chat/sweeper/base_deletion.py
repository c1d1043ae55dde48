"""Deletes knowledge bases: first the members, so that nobody reaches a base, then contents, in short transactions."""

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from chat.events import knowledge_bases as events
from chat.infrastructure.background import call_after_commit
from chat.protocol.errors import ApiError
from knowledge.models import Document, KnowledgeBase, KnowledgeBaseMember, MemberRole, MembershipChange

# Documents per transaction.
BATCH: Final = 20


def delete_base(base: KnowledgeBase, actor: User) -> None:
    """Delete a base for everybody by removing its members. The sweeper deletes its contents.
    Raises ApiError if the base was deleted, or `actor` does not own it any more."""
    with transaction.atomic():
        if not base.change():
            raise ApiError("knowledge_base_not_found")
        check_owner(base, actor)
        members = list(base.members.select_related("user"))
        MembershipChange.objects.bulk_create(
            MembershipChange(
                knowledge_base=base.pk,
                name=base.name,
                actor=actor.get_username(),
                user=member.user.get_username(),
                before=member.role,
            )
            for member in members
        )
        base.members.all().delete()
        user_ids = [member.user_id for member in members if member.is_accepted]
        call_after_commit(events.publish_deleted, base.pk, user_ids)


def purge_base(base: KnowledgeBase) -> int:
    """Delete a batch of the documents of a base without members, or else the base; return the number of rows."""
    documents = Document.objects.filter(knowledge_base=base).order_by("pk")
    batch = list(documents.values_list("pk", flat=True)[:BATCH])
    if batch:
        return int(Document.objects.filter(pk__in=batch).delete_whole())
    base.delete()
    return 1


def check_owner(base: KnowledgeBase, actor: User) -> None:
    """Raise ApiError unless `actor` is an owner now: `not_allowed`, or `knowledge_base_not_found` for no member."""
    role = KnowledgeBaseMember.objects.roles_of(actor, [base.pk]).get(base.pk)
    if role is None:
        raise ApiError("knowledge_base_not_found")
    if role != MemberRole.OWNER:
        raise ApiError("not_allowed")
