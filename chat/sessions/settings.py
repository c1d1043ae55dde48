"""Changes the settings of a session and records the event `session`, which reaches the owner's other tabs."""

from typing import Any

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import Session
from chat.protocol.errors import ApiError
from chat.sessions.tags import choose_tags
from chat.sessions.temporary import check_changes


def edit_session(session: Session, fields: dict[str, Any]) -> None:
    """Set title, while_answering, agent, project, tools, reminder, prompt, options, models, tags, is_pinned or is_archived, or keep a temporary
    session (is_temporary: False). Raises ApiError if it is gone, or its new agent or project, or it is temporary and
    would be in a list, or the owner has too many tags.

    Another agent brings its own models, unless others are named with it. Without fields nothing is recorded.
    """
    if not fields:
        return
    with transaction.atomic():
        hold_references(fields)
        try:
            locked = Session.objects.lock(session.pk)
        except Session.DoesNotExist:
            raise ApiError("session_not_found") from None
        check_changes(locked, fields)
        if "tags" in fields:
            fields = {**fields, "tags": choose_tags(locked.owner, fields["tags"], locked.pk)}
        if "agent" in fields and getattr(fields["agent"], "pk", None) != locked.agent_id:
            fields = {"models": [], **fields}
        locked.change(**fields)
        record_session_changed(locked)


def hold_references(fields: dict[str, Any]) -> None:
    """Keep the agent and the project that a session is to have from being deleted until the transaction ends. Raises ApiError."""
    for noun in ("agent", "project"):
        row = fields.get(noun)
        if row is not None and not row.hold():
            raise ApiError(f"{noun}_not_found", field=noun)
