"""What a send must know before it stores anything, read in one statement: the tip of the current branch, the turn
that a reply to it waits for, how many runs are in progress, and the models that may answer.

The statement takes no lock. Every change that could make the snapshot wrong records an event of the session, so
storing checks `latest_event` again (chat/turns/insert.py); under the session's lock the snapshot cannot become stale.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.session import Session
from chat.models.sql import statements
from chat.models.sql.runs import IN_PROGRESS
from chat.models.turn import BLOCKER


class TipSnapshot(NamedTuple):
    latest_event: int  # the session's, when the snapshot was read
    agent_id: UUID | None  # the session's: the caller may have loaded the session with an earlier agent
    own_runs: int  # in progress, of the session's owner
    queued_runs: int  # of all users
    blocker_id: UUID | None  # the turn that must end before a reply to the tip can start
    is_repeat: bool  # a message with this client_message_id is stored already
    tip: ChatMessage | None  # its place in the tree alone; None: the session has no leaf
    models: Sequence[
        ModelConfig
    ]  # enabled ones: those named first, then the default; only what a run is made from

    @classmethod
    def read(
        cls, session: Session, model_names: Sequence[str] | None, client_message_id: str | None
    ) -> "TipSnapshot | None":
        """model_names: the models to look for; None: the default one. Returns None if the session is gone."""
        given = {
            "session": session.pk,
            "owner": session.owner_id,
            "names": None if model_names is None else list(model_names),
            "most": max(1, len(model_names or ())),
            "client_message_id": client_message_id,
        }
        rows = statements.every(_SNAPSHOT, given)
        if not rows:
            return None
        latest_event, agent_id, own_runs, queued_runs, blocker_id, is_repeat, *place = rows[0][: -len(_MODEL)]
        tip = None if place[0] is None else ChatMessage.objects.placed(place)
        models = [row[-len(_MODEL) :] for row in rows if row[-1] is not None]
        return cls(
            latest_event,
            agent_id,
            own_runs,
            queued_runs,
            blocker_id,
            is_repeat,
            tip,
            [statements.instance(ModelConfig, _MODEL, model) for model in models],
        )


_MODEL: Final = ("id", "name", "queue")
_MODEL_ORDER: Final = "model.is_named DESC, model.is_default DESC, model.name"
_SNAPSHOT: Final = f"""
    SELECT session.latest_event, session.agent_id, in_progress.own, in_progress.queued, {BLOCKER},
        EXISTS (
            SELECT FROM chat_chatmessage AS earlier
            WHERE earlier.session_id = session.id AND earlier.client_message_id = %(client_message_id)s
        ),
        message.id, message.session_id, message.parent_id, message.role,
        {", ".join(f"model.{column}" for column in _MODEL)}
    FROM chat_session AS session
    LEFT JOIN chat_chatmessage AS message ON message.id = session.leaf_id
    LEFT JOIN chat_run AS run ON run.message_id = message.id
    LEFT JOIN chat_turn AS turn ON turn.id = run.turn_id
    LEFT JOIN chat_turn AS above ON above.id = turn.after_id
    CROSS JOIN ({IN_PROGRESS}) AS in_progress
    LEFT JOIN (
        SELECT * FROM (
            SELECT id, name, queue, is_default, name = ANY(%(names)s::text[]) AS is_named
            FROM chat_modelconfig WHERE enabled
        ) AS model
        ORDER BY {_MODEL_ORDER} LIMIT %(most)s
    ) AS model ON TRUE
    WHERE session.id = %(session)s
    ORDER BY {_MODEL_ORDER}
"""  # noqa: S608  names of columns alone
