"""Changes the settings of a session and records the event `session`, which reaches the owner's other tabs."""

from typing import TYPE_CHECKING, Any

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.models import Session
from chat.protocol.answer import with_members
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.sessions.tags import choose_tags
from chat.sessions.temporary import check_changes
from chat.transcript.answer_settings import SessionSettings

if TYPE_CHECKING:
    SettingsBody = Body
else:
    # The others have rules that only requests have.
    SettingsBody = with_members(
        Body, SessionSettings, without=("tools", "knowledge_bases", "options"), are_optional=True
    )


def edit_session(session: Session, fields: dict[str, Any]) -> None:
    """Set members of SessionSettings, or title, agent, project, models, tags, is_pinned, is_archived, or is_temporary (only to
    False: the session is kept).

    Raises ApiError if the session or its new agent or project is gone, if it is temporary and would be in a list, or
    if the owner has too many tags. A new agent brings its own models, unless `models` is set too. Without fields
    nothing is recorded.
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
    """Lock agent and project in `fields` against deletion in this transaction. Raises ApiError if one is gone."""
    for noun in ("agent", "project"):
        row = fields.get(noun)
        if row is not None and not row.hold():
            raise ApiError(f"{noun}_not_found", field=noun)
