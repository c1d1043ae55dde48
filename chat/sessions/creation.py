"""Creates sessions. Empty ones are stored by SessionQuerySet.start(), sessions with messages by
chat/sessions/portable/importer.py and chat/sessions/forking.py."""

from typing import Any

from django.contrib.auth.models import User

from chat.events import session_list
from chat.models import Session, StoredBytes
from chat.runs import quotas
from chat.sessions.settings import hold_references
from chat.sessions.tags import choose_tags
from chat.sessions.temporary import temporary_until


def create_session(owner: User, **fields: Any) -> Session:
    """Create a session with its root, and publish it after the commit.

    Raises ApiError if the owner has too many sessions or tags, the agent or project is gone, or it cannot be temporary.
    """
    if fields.pop("is_temporary", False):
        fields["temporary_until"] = temporary_until(fields)
    with quotas.SESSIONS.room_for_one(owner):
        hold_references(fields)
        if fields.get("tags"):
            fields["tags"] = choose_tags(owner, fields["tags"])
        session = Session.objects.start(owner, **fields)
        session_list.publish_created(session)
    return session


def add_stored_session(session: Session) -> None:
    """Store the row of a session whose messages this transaction stores. Raises ApiError if its owner has no room.

    Call it last in the transaction, so that the owner's row is locked only for a moment.
    """
    with quotas.SESSIONS.room_for_one(session.owner):
        Session.objects.bulk_create([session])
        StoredBytes.objects.measure(session.pk)
        quotas.check_storage(session.owner_id, StoredBytes.objects.sum_of(session.owner_id), 0)
        StoredBytes.objects.refresh(session.owner_id)
