"""Decides which knowledge bases a turn searches, and whether its models may read their contents (decision 0115)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User

from chat.events import knowledge_bases as events
from chat.infrastructure.background import call_after_commit
from chat.models import Session
from chat.models.run_fields import KnowledgeAccess, RunKnowledge
from chat.models.sql.messages import PICKED_BASES
from chat.protocol.errors import ApiError
from knowledge.bases import BoundBases
from knowledge.models import KnowledgeBase, KnowledgeBaseMember

# The number of bases picked with earlier questions that are searched, the latest first.
MAX_EARLIER: Final = 20


def load_bound_bases(session: Session, picked: Sequence[UUID], parent: UUID | None) -> BoundBases:
    """Return the bases picked with the question or, if there are none, those of the session, those of its agent, and
    those picked with questions above, in this order.

    parent: the message that the question replies to; None means the root. Bases of another user's agent are left out if
    the session's owner is not a member of them. Makes at most one query, and one more in a session with picked bases.
    """
    agent = session.agent if session.agent_id else None
    of_agent = agent.knowledge_bases if agent else []
    earlier = [] if picked else _picked_earlier(session, parent)
    bases = BoundBases.load(session.owner_id, picked, [*session.settings.knowledge_bases, *of_agent], earlier)
    if agent and agent.owner_id != session.owner_id and not bases.are_picked:
        return bases.without_unknown(set(of_agent) - set(session.settings.knowledge_bases))
    return bases


def _picked_earlier(session: Session, parent: UUID | None) -> list[UUID]:
    """Return the bases picked with the questions above, the latest first, at most MAX_EARLIER."""
    if not session.has_picked_bases or parent is None:
        return []
    rows = PICKED_BASES.all(leaf=parent, session=session.pk)
    return list(dict.fromkeys(base for row in rows for base in row.knowledge_bases))[:MAX_EARLIER]


def choose_picked(session: Session, bases: BoundBases) -> None:
    """Accept the user's memberships of the picked bases. Raises ApiError if the user is not a member of one."""
    if not bases.are_picked:
        return
    if bases.unknown:
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    if bases.pending:
        accept_chosen(session.owner_id, bases.pending)


def choose_bases(user: User, bases: Collection[UUID], stored: Collection[UUID] = ()) -> None:
    """Accept the user's memberships of the bases that will be bound. Raises ApiError unless the user may see them all.

    stored: bases that are bound already, which may stay even if they were deleted since.
    """
    new = set(bases) - set(stored)
    if new and KnowledgeBase.objects.visible_to(user).filter(pk__in=new).count() != len(new):
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    if new:
        accept_chosen(user.pk, new)


def accept_chosen(user_id: int, bases: Iterable[UUID]) -> None:
    """Accept the user's memberships, but not the ownership, of bases that the user has chosen or changed."""
    for base in KnowledgeBaseMember.objects.accept(user_id, bases):
        call_after_commit(events.publish_accepted, base, user_id)


def knowledge_of_run(bases: BoundBases) -> RunKnowledge:
    """Return what a run may search. Bases that may not be searched are left out."""
    known = bases.searchable
    access = KnowledgeAccess.RESTRICTED if bases.is_restricted else KnowledgeAccess.FULL
    return RunKnowledge(known, bases.are_picked, str(access) if known else "")
