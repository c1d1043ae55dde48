"""Tells the sockets of members who have accepted that watch their session list that a knowledge base has changed or was deleted, by its id.

At most once, and stored nowhere, as the session list: what has changed is read by REST, as far as the member's role goes. Who may
not read documents is not told that they have changed: how often and when would say something of them.
"""

from collections.abc import Iterable
from uuid import UUID

from chat.events import session_list
from chat.events.frames import KnowledgeBaseChanged, KnowledgeBaseDeleted
from chat.protocol.wire import encode
from knowledge.models import KnowledgeBaseMember
from knowledge.models.knowledge_base import READING


def publish_changed(base_id: UUID) -> None:
    """Publish to all of these members that a base was created, or what all of them see of it was changed, and committed."""
    members = KnowledgeBaseMember.objects.filter(knowledge_base=base_id).accepted()
    publish_changed_to(base_id, members.values_list("user", flat=True))


def publish_content_changed(base_id: UUID) -> None:
    """Publish to those who read its documents that these, its members or its other fields were changed, and committed."""
    publish_changed_to(base_id, reader_ids(base_id))


def publish_accepted(base_id: UUID, user_id: int) -> None:
    """Publish to a user who has accepted a membership, and to those who see that, and committed."""
    publish_changed_to(base_id, {user_id, *reader_ids(base_id)})


def publish_changed_to(base_id: UUID, user_ids: Iterable[int]) -> None:
    line = encode_changed(base_id)
    for user_id in user_ids:
        session_list.publish(user_id, line)


def publish_deleted(base_id: UUID, user_ids: Iterable[int]) -> None:
    """Publish to those who were members that they are not any more: the base or their membership was deleted and committed."""
    line = encode(KnowledgeBaseDeleted(base_id))
    for user_id in user_ids:
        session_list.publish(user_id, line)


def encode_changed(base_id: UUID) -> bytes:
    return encode(KnowledgeBaseChanged(base_id))


def reader_ids(base_id: UUID) -> list[int]:
    """The members who may read its documents, and have accepted."""
    members = KnowledgeBaseMember.objects.accepted().filter(knowledge_base=base_id, role__in=sorted(READING))
    return list(members.values_list("user", flat=True))
