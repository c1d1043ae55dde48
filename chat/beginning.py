"""What a turn adds to the database, all in one statement: its messages, itself, its runs, the tip and the event.

Eleven queries of the ORM did it in 9 ms of processor time. The rules are the constraints', which hold here as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from chat.models import ChatMessage, Run, Session, SessionEvent, Turn, statements


@dataclass(frozen=True)
class Beginning:
    """A turn of rows that are not stored yet."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    messages: Sequence[ChatMessage]  # new ones: the answers, and the question unless it is answered again
    chosen: ChatMessage  # a stored message shows this new one from now on

    def store(self, session: Session, payload: dict[str, Any]) -> SessionEvent:
        """Store it all; the first answer becomes the tip. Returns `turn_started`, to be published.

        The caller holds the session's lock and has made the path to the parent of `chosen` current.
        """
        given = {
            "session": session.pk,
            "messages": statements.rows(self.messages),
            "turns": statements.rows([self.turn]),
            "runs": statements.rows(self.runs),
            "chosen": self.chosen.pk,
            "chosen_by": self.chosen.parent_id,
            "leaf": self.runs[0].message_id,
            "payload": Jsonb(payload),
        }
        return SessionEvent.of(statements.first(_STORE, given), "turn_started", payload)


_STORE = f"""
    WITH message AS ({statements.insertion(ChatMessage, "messages")}),
    turn AS ({statements.insertion(Turn, "turns")}),
    run AS ({statements.insertion(Run, "runs")}),
    shown AS (UPDATE chat_chatmessage SET latest_child_id = %(chosen)s WHERE id = %(chosen_by)s),
    session AS (
        UPDATE chat_session
        SET leaf_id = %(leaf)s, updated_at = STATEMENT_TIMESTAMP(), latest_event = latest_event + 1,
            seen_event = latest_event + 1 -- who asks has seen what was answered
        WHERE id = %(session)s RETURNING *
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, 'turn_started', %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.*, {statements.columns(Session, "session")}, TRUE FROM event, session -- TRUE: it is being answered
"""  # noqa: S608  names of tables and columns alone
