"""What a turn adds to the database, all in one statement: its messages, itself, its runs, the tip and the event.

Eleven queries of the ORM did it in 9 ms of processor time. The rules are the constraints', which hold here as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg.types.json import Jsonb

from chat.models import ChatMessage, Run, Session, SessionEvent, Turn
from chat.models.sql import statements


@dataclass(frozen=True)
class Beginning:
    """A turn of rows that are not stored yet."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    messages: Sequence[ChatMessage]  # new ones: the answers, and the question unless it is answered again
    chosen: ChatMessage  # a stored message shows this new one from now on

    def asked(self, question: ChatMessage) -> "Beginning":
        """With the question itself, which is new as well."""
        question.latest_child = self.chosen
        return replace(self, messages=[question, *self.messages], chosen=question)

    def store(self, latest_event: int, payload: dict[str, Any]) -> SessionEvent | None:
        """Store it all; the first answer becomes the tip. Returns `turn_started`, to be published.

        latest_event: of the session when it was looked at. None: there has been another since, and nothing is stored.
        The path to the parent of `chosen` is current already.
        """
        given = {
            "session": self.turn.session_id,
            "seen": latest_event,
            "messages": statements.rows(self.messages),
            "turns": statements.rows([self.turn]),
            "runs": statements.rows(self.runs),
            "chosen": self.chosen.pk,
            "chosen_by": self.chosen.parent_id,
            "leaf": self.runs[0].message_id,
            "payload": Jsonb(payload),
        }
        stored = statements.first(_STORE, given)
        return None if stored is None else SessionEvent.of(stored, "turn_started", payload)


# Whatever changes where a branch ends, or what a reply has to wait for, is an event of the session.
_IF_UNCHANGED = "WHERE EXISTS (SELECT FROM session)"
_STORE = f"""
    WITH session AS (
        UPDATE chat_session
        SET leaf_id = %(leaf)s, updated_at = STATEMENT_TIMESTAMP(), latest_event = latest_event + 1,
            seen_event = latest_event + 1 -- who asks has seen what was answered
        WHERE id = %(session)s AND latest_event = %(seen)s RETURNING *
    ), message AS ({statements.insertion(ChatMessage, "messages")} {_IF_UNCHANGED}),
    turn AS ({statements.insertion(Turn, "turns")} {_IF_UNCHANGED}),
    run AS ({statements.insertion(Run, "runs")} {_IF_UNCHANGED}),
    shown AS (
        UPDATE chat_chatmessage SET latest_child_id = %(chosen)s {_IF_UNCHANGED} AND id = %(chosen_by)s
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, 'turn_started', %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.*, {statements.columns(Session, "session")}, TRUE FROM event, session -- TRUE: it is being answered
"""  # noqa: S608  names of tables and columns alone
