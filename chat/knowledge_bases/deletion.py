"""Deletes knowledge bases: at once for everybody, since nobody is a member any more; then what they hold, in short transactions."""

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from chat.events import knowledge_bases as events
from chat.infrastructure.after_commit import call_after_commit
from chat.knowledge_bases.members import check_owner
from chat.protocol.errors import ApiError
from knowledge.models import Document, KnowledgeBase, MembershipChange

# Documents of one transaction.
BATCH: Final = 20


def delete_base(base: KnowledgeBase, actor: User) -> None:
    """Raises ApiError if it was deleted, or `actor` does not own it any more. The sweeper deletes what it holds."""
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
    """Delete a batch of the documents of a base without members, or else the base itself; return how many rows that were."""
    documents = Document.objects.filter(knowledge_base=base).order_by("pk")
    batch = list(documents.values_list("pk", flat=True)[:BATCH])
    if batch:
        return int(Document.objects.filter(pk__in=batch).delete_whole())
    base.delete()
    return 1
