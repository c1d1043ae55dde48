"""What the owner changes of a session itself, and telling the other tabs of it."""

from typing import Any

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import Session
from chat.protocol.errors import ApiError


def edit_session(session: Session, fields: dict[str, Any]) -> None:
    """Set title, while_answering, agent and project; nothing happens without a field. Raises ApiError if it is gone."""
    if not fields:
        return
    with transaction.atomic():
        changed = Session.objects.select_for_update(no_key=True).filter(pk=session.pk).first()
        if changed is None:
            raise ApiError("session_not_found")
        changed.change(**fields)
        record_session_changed(changed)
