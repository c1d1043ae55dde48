"""Drops the agent of a session once it is no longer shared with the session's owner."""

import logging

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.models import Agent, Session
from chat.runs.turn_parts import TurnPart, register
from chat.turns.current_branch import lock_session

logger = logging.getLogger(__name__)


class AgentPart(TurnPart):
    def before_answer(self, session: Session) -> None:
        """Remove the session's agent if it is no longer shared with the session's owner, as if it had been deleted.
        Makes one query, and only for an agent of another user.
        """
        agent = session.agent if session.agent_id else None
        if agent is None or agent.owner_id == session.owner_id:
            return
        if Agent.objects.usable_by(session.owner_id).filter(pk=agent.pk).exists():
            return
        with transaction.atomic():
            locked = lock_session(session)
            if locked.agent_id != agent.pk:
                return  # another agent was chosen meanwhile
            locked.change(agent=None, models=[])
            record_session_changed(locked)
        session.agent, session.models, session.has_own_models = None, [], False
        logger.info("session %s goes on without agent %s, which is not shared any more", session.pk, agent.pk)


register(AgentPart())
