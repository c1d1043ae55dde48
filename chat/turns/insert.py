"""The rows that a new turn adds, and the one statement that stores them.

The statement also moves the session's tip and records the event `turn_started`. Eleven queries of the ORM took 9 ms of
processor time for the same. The tables' constraints apply as to any INSERT.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from psycopg.types.json import Jsonb

from chat.models import ChatMessage, ModelConfig, Role, Run, SessionEvent, Turn
from chat.models.sql.rows import SESSION
from chat.models.sql.sessions import RecordedEvent
from chat.models.sql.statements import Statement, insertion, rows
from chat.presenters.json_values import JSONObject


@dataclass(frozen=True)
class TurnInsert:
    """A turn, its runs and its new messages, not stored yet."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    messages: Sequence[ChatMessage]  # the answers, and the question unless it is stored already
    latest_child: ChatMessage  # the new message that its stored parent shows from now on

    @classmethod
    def answering(
        cls, question: ChatMessage, models: Sequence[ModelConfig], after: Turn | None, **run_fields: Any
    ) -> "TurnInsert":
        """A turn with one queued run per model. after: the turn that must end before it is answered."""
        turn = Turn(
            session_id=question.session_id, user_message=question, after=after, created_at=timezone.now()
        )
        answers = [
            # Siblings are shown in the order of their times.
            ChatMessage.objects.draft(question, role=Role.ASSISTANT, later=timedelta(microseconds=index + 1))
            for index in range(len(models))
        ]
        runs = [
            Run(
                turn=turn,
                message=answer,
                model_config=model,
                model=model.name,
                model_index=index,
                created_at=turn.created_at,
                deadline=turn.created_at + timedelta(seconds=settings.RUN_DEADLINE_S),
                **run_fields,
            )
            for index, (model, answer) in enumerate(zip(models, answers, strict=True))
        ]
        return cls(turn, runs, messages=answers, latest_child=answers[0])

    @property
    def question(self) -> ChatMessage:
        return self.turn.user_message

    def with_new_question(self) -> "TurnInsert":
        """The same with its question, which is not stored yet either."""
        question = self.question
        question.latest_child = self.latest_child
        return replace(self, messages=[question, *self.messages], latest_child=question)

    def store(self, latest_event: int, payload: JSONObject) -> SessionEvent | None:
        """Store all rows; the first answer becomes the tip. Returns `turn_started`, to be published.

        latest_event: the session's, as it was planned with. Returns None, and stores nothing, if there is a newer one.
        The path to the parent of `latest_child` must be current.
        """
        stored = _STORE.first(
            session=self.turn.session_id,
            latest_event=latest_event,
            messages=rows(self.messages),
            turns=rows([self.turn]),
            runs=rows(self.runs),
            latest_child=self.latest_child.pk,
            parent=self.latest_child.parent_id,
            leaf=self.runs[0].message_id,
            payload=Jsonb(payload),
        )
        return SessionEvent.recorded(stored, "turn_started", payload) if stored else None


# Every change of where a branch ends, or of what a reply waits for, records an event of the session.
_IF_UNCHANGED = "WHERE EXISTS (SELECT FROM session)"
# Plan: primary keys.
_STORE = Statement(
    f"""
    WITH session AS (
        UPDATE chat_session
        SET leaf_id = %(leaf)s, updated_at = STATEMENT_TIMESTAMP(), latest_event = latest_event + 1,
            seen_event = latest_event + 1 -- a user who sends a message has seen the answers above it
        WHERE id = %(session)s AND latest_event = %(latest_event)s RETURNING *
    ), message AS ({insertion(ChatMessage, "messages")} {_IF_UNCHANGED}),
    turn AS ({insertion(Turn, "turns")} {_IF_UNCHANGED}),
    run AS ({insertion(Run, "runs")} {_IF_UNCHANGED}),
    shown AS (
        UPDATE chat_chatmessage SET latest_child_id = %(latest_child)s {_IF_UNCHANGED} AND id = %(parent)s
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, 'turn_started', %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.*, {SESSION}, TRUE FROM event, session -- TRUE: the session is being answered
    """,  # noqa: S608  names of tables and columns alone
    RecordedEvent,
)
