"""Tells members who have accepted that a knowledge base has changed or was deleted, by its id.

The message goes to their sockets that watch the session list, at most once, and is stored nowhere: clients read the
change by REST, as far as the member's role allows. Members who may not read documents are not told that these have
changed: how often and when would reveal something of them.
"""

from collections.abc import Iterable
from uuid import UUID

from chat.events import session_list
from chat.events.frames import KnowledgeBaseChanged, KnowledgeBaseDeleted
from chat.protocol.wire import encode
from knowledge.models import KnowledgeBaseMember
from knowledge.models.knowledge_base import READING


def publish_changed(base_id: UUID) -> None:
    """Publish to all accepted members that a base was created, or a committed change that all of them see."""
    members = KnowledgeBaseMember.objects.filter(knowledge_base=base_id).accepted()
    publish_changed_to(base_id, members.values_list("user", flat=True))


def publish_content_changed(base_id: UUID) -> None:
    """Publish a committed change of documents, members or other fields of a base to those who may read documents."""
    publish_changed_to(base_id, reader_ids(base_id))


def publish_accepted(base_id: UUID, user_id: int) -> None:
    """Publish a committed acceptance of a membership to the user who has accepted, and to members who see it."""
    publish_changed_to(base_id, {user_id, *reader_ids(base_id)})


def publish_changed_to(base_id: UUID, user_ids: Iterable[int]) -> None:
    line = encode_changed(base_id)
    for user_id in user_ids:
        session_list.publish(user_id, line)


def publish_deleted(base_id: UUID, user_ids: Iterable[int]) -> None:
    """Publish to former members that the base or their membership was deleted; the deletion is committed."""
    line = encode(KnowledgeBaseDeleted(base_id))
    for user_id in user_ids:
        session_list.publish(user_id, line)


def encode_changed(base_id: UUID) -> bytes:
    return encode(KnowledgeBaseChanged(base_id))


def reader_ids(base_id: UUID) -> list[int]:
    """Return the ids of the users who have accepted and may read the documents of a base."""
    members = KnowledgeBaseMember.objects.accepted().filter(knowledge_base=base_id, role__in=sorted(READING))
    return list(members.values_list("user", flat=True))
