"""What an ordinary send finds: where the current branch ends, how much is in progress, the models that would answer.

One question without a lock. Whatever could make the answer wrong is an event of the session, so what is stored upon it
asks for its latest_event again (chat/turns/insert.py).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.session import Session
from chat.models.sql import statements
from chat.models.sql.runs import IN_PROGRESS
from chat.models.turn import AT_THE_TIP, BLOCKER


class TipSnapshot(NamedTuple):
    """latest_event: of the session as it was read. own, queued: Run.objects.in_progress. models: in any order."""

    latest_event: int
    own: int
    queued: int
    tip: ChatMessage
    models: Sequence[ModelConfig]

    @classmethod
    def of(
        cls, session: Session, names: Sequence[str] | None, most: int, client_message_id: str | None
    ) -> "TipSnapshot | None":
        """None: a reply to the tip is nothing ordinary (it has to wait, it is a repeat), or nothing is there.

        names: of the models that are asked for, `most` of them; None: the default one.
        """
        given = {
            "session": session.pk,
            "agent": session.agent_id,
            "owner": session.owner_id,
            "names": None if names is None else list(names),
            "most": most,
            "repeated": client_message_id,
        }
        rows = statements.every(_ORDINARY, given)
        if not rows:
            return None
        latest_event, own, queued, *place = rows[0][: -len(_MODEL)]
        found = [statements.instance(ModelConfig, _MODEL, row[-len(_MODEL) :]) for row in rows]
        return cls(latest_event, own, queued, ChatMessage.objects.placed(place), found)


# What a run is made from.
_MODEL: Final = ("id", "name", "queue")
_ORDINARY: Final = f"""
    SELECT session.latest_event, in_progress.*, message.id, message.session_id, message.parent_id, message.role, model.*
    FROM {AT_THE_TIP}
    CROSS JOIN ({IN_PROGRESS}) AS in_progress
    CROSS JOIN (
        SELECT {", ".join(_MODEL)} FROM chat_modelconfig
        WHERE enabled AND (%(names)s::text[] IS NULL OR name = ANY(%(names)s::text[]))
        ORDER BY is_default DESC, name LIMIT %(most)s
    ) AS model
    WHERE session.id = %(session)s AND session.agent_id IS NOT DISTINCT FROM %(agent)s AND {BLOCKER} IS NULL
        AND NOT EXISTS (
            SELECT FROM chat_chatmessage AS earlier
            WHERE earlier.session_id = session.id AND earlier.client_message_id = %(repeated)s
        )
"""  # noqa: S608  names of columns alone
