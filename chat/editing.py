"""What the owner changes of a session itself, and telling the other tabs of it."""

from typing import Any

from django.db import transaction

from chat import events
from chat.models import Session
from chat.refusals import Refusal


def edit(session: Session, fields: dict[str, Any]) -> None:
    """Set title, while_answering, agent and project; nothing happens without a field. Raises Refusal if it is gone."""
    if not fields:
        return
    with transaction.atomic():
        changed = Session.objects.select_for_update(no_key=True).filter(pk=session.pk).first()
        if changed is None:
            raise Refusal("session_not_found")
        changed.change(**fields)
        tell(changed)


def tell(session: Session) -> None:
    """Record the event `session`: its title, mode or current branch is another now. The caller holds its lock."""
    now = Session.objects.get(pk=session.pk)
    leaf = str(now.leaf_id) if now.leaf_id else None
    agent = str(now.agent_id) if now.agent_id else None
    said = {"title": now.title, "while_answering": now.while_answering, "agent": agent, "leaf": leaf}
    events.tell(session, "session", said)
