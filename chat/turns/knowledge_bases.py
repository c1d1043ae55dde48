"""Decides which knowledge bases a turn searches, and whether its models may read what they hold (decision 0116)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User

from chat.events import knowledge_bases as events
from chat.infrastructure.after_commit import call_after_commit
from chat.models import Session
from chat.models.run_knowledge import KnowledgeAccess
from chat.models.sql.messages import PICKED_BASES
from chat.protocol.errors import ApiError
from knowledge.bound_bases import BoundBases
from knowledge.models import KnowledgeBase, KnowledgeBaseMember

# Of those that earlier questions picked, the latest.
MAX_EARLIER: Final = 20


def load_bound_bases(session: Session, picked: Sequence[UUID], parent: UUID | None) -> BoundBases:
    """Those picked with the question; if none was, those of the session, then of its agent, then those picked with questions above it.
    One query, or none; one more in a session where some were picked.

    parent: the message that the question replies to; None: the root.
    Of an agent that somebody else shares, those that the session's owner is no member of are not mentioned.
    """
    agent = session.agent if session.agent_id else None
    of_agent = agent.knowledge_bases if agent else []
    earlier = [] if picked else _picked_earlier(session, parent)
    bases = BoundBases.load(session.owner_id, picked, [*session.knowledge_bases, *of_agent], earlier)
    if agent and agent.owner_id != session.owner_id and not bases.are_picked:
        return bases.without_unknown(set(of_agent) - set(session.knowledge_bases))
    return bases


def _picked_earlier(session: Session, parent: UUID | None) -> list[UUID]:
    """The latest first."""
    if not session.has_picked_bases or parent is None:
        return []
    rows = PICKED_BASES.all(leaf=parent, session=session.pk)
    return list(dict.fromkeys(base for row in rows for base in row.knowledge_bases))[:MAX_EARLIER]


def choose_picked(session: Session, bases: BoundBases) -> None:
    """Accept the memberships of bases that were picked. Raises ApiError if the user is no member of one."""
    if not bases.are_picked:
        return
    if bases.unknown:
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    if bases.pending:
        accept_chosen(session.owner_id, bases.pending)


def choose_bases(user: User, bases: Collection[UUID], stored: Collection[UUID] = ()) -> None:
    """Accept the user's memberships of these bases, which are to be bound. Raises ApiError unless the user has them all.

    stored: may stay, although they were deleted since.
    """
    new = set(bases) - set(stored)
    if new and KnowledgeBase.objects.visible_to(user).filter(pk__in=new).count() != len(new):
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    if new:
        accept_chosen(user.pk, new)


def accept_chosen(user_id: int, bases: Iterable[UUID]) -> None:
    """Accept the user's memberships of these bases, since the user has chosen or changed them; not their ownership."""
    for base in KnowledgeBaseMember.objects.accept(user_id, bases):
        call_after_commit(events.publish_accepted, base, user_id)


def run_columns(bases: BoundBases) -> dict[str, Any]:
    """The columns of RunKnowledgeFields. Bases that may not be searched are left out."""
    known = bases.known
    access = KnowledgeAccess.RESTRICTED if bases.is_restricted else KnowledgeAccess.FULL
    return {
        "knowledge_bases": known,
        "are_bases_picked": bases.are_picked,
        "knowledge_access": str(access) if known else "",
    }
