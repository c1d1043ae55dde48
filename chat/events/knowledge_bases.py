"""Tells the sockets of all members that watch their session list that a knowledge base has changed or was deleted, by its id.

At most once, and stored nowhere, as the session list: what has changed is read by REST, as far as the member's role goes.
"""

from collections.abc import Iterable
from uuid import UUID

from chat.events import session_list
from chat.protocol.wire import encode
from knowledge.models import KnowledgeBaseMember


def publish_changed(base_id: UUID) -> None:
    """Publish that a base was created, or its fields, members or documents were changed, and committed."""
    line = encode_changed(base_id)
    for user_id in member_ids(base_id):
        session_list.publish(user_id, line)


def publish_deleted(base_id: UUID, user_ids: Iterable[int]) -> None:
    """Publish to those who were members that they are not any more: the base or their membership was deleted and committed."""
    line = encode({"type": "knowledge_base_deleted", "knowledge_base": str(base_id)})
    for user_id in user_ids:
        session_list.publish(user_id, line)


def encode_changed(base_id: UUID) -> bytes:
    return encode({"type": "knowledge_base_changed", "knowledge_base": str(base_id)})


def member_ids(base_id: UUID) -> list[int]:
    members = KnowledgeBaseMember.objects.filter(knowledge_base=base_id)
    return list(members.values_list("user", flat=True))
