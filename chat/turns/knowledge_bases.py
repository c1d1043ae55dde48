"""Decides which knowledge bases a turn searches, and whether its models may read what they hold (decision 0116)."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from chat.models import Session
from chat.models.run_knowledge import KnowledgeAccess
from chat.protocol.errors import ApiError
from knowledge.bound_bases import BoundBases
from knowledge.models import KnowledgeBase


def load_bound_bases(session: Session, picked: Sequence[UUID] = ()) -> BoundBases:
    """Those picked with the question; if none was, those of the session and then of its agent. One query, or none.

    Of an agent that somebody else shares, those that the session's owner is no member of are not mentioned.
    """
    agent = session.agent if session.agent_id else None
    of_agent = agent.knowledge_bases if agent else []
    bases = BoundBases.load(session.owner_id, picked, [*session.knowledge_bases, *of_agent])
    if agent and agent.owner_id != session.owner_id and not bases.are_picked:
        return bases.without_unknown(set(of_agent) - set(session.knowledge_bases))
    return bases


def check_picked(bases: BoundBases) -> None:
    """Raise ApiError if a base was picked that the user is no member of."""
    if bases.are_picked and bases.unknown:
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")


def check_bindable(user: User, bases: Collection[UUID], stored: Collection[UUID] = ()) -> None:
    """Raise ApiError unless the user is a member of all these bases. stored: may stay, although they were deleted since."""
    new = set(bases) - set(stored)
    if new and KnowledgeBase.objects.visible_to(user).filter(pk__in=new).count() != len(new):
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")


def run_columns(bases: BoundBases) -> dict[str, Any]:
    """The columns of RunKnowledgeFields. Bases that may not be searched are left out."""
    known = bases.known
    access = KnowledgeAccess.RESTRICTED if bases.is_restricted else KnowledgeAccess.FULL
    return {
        "knowledge_bases": known,
        "are_bases_picked": bases.are_picked,
        "knowledge_access": str(access) if known else "",
    }
