"""The rows that a new turn adds, and the one statement that stores them.

The statement also moves the session's tip and records the event `turn_started`. Eleven queries of the ORM took 9 ms of
processor time to do the same. The tables' constraints apply as to any INSERT.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from psycopg.types.json import Jsonb

from chat.events import session_events
from chat.infrastructure import log_context
from chat.models import ChatMessage, ModelConfig, Role, Run, SessionEvent, Turn
from chat.models.run_fields import RunKnowledge
from chat.models.sql.rows import SESSION
from chat.models.sql.sessions import IS_WAITING, RecordedEvent
from chat.models.sql.statements import Statement, insertion, rows
from chat.models.sql.usage import count_runs_sql
from chat.models.turn import SentBeside
from chat.presenters.json_values import JSONObject
from chat.presenters.runs import present_turn
from chat.runs import daily_limits, task_queue
from chat.transcript.answer_settings import RunOptions


@dataclass(frozen=True)
class TurnInsert:
    """A turn, its runs and its new messages, not stored yet."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    messages: Sequence[ChatMessage]  # the answers, and the question unless it is stored already
    latest_child: (
        ChatMessage | None
    )  # the new message that its stored parent shows from now on; None: unchanged
    most_runs: int | None = None  # runs that the owner may start today; None: no limit
    named_models: Sequence[str] | None = None  # shown as the session's models from now on; None: unchanged

    @classmethod
    def answering(
        cls,
        question: ChatMessage,
        models: Sequence[ModelConfig],
        after: Turn | None,
        beside: SentBeside,
        options: RunOptions,
    ) -> "TurnInsert":
        """Build a turn with one queued run per model. after: the turn that must end before the question is answered."""
        turn = Turn(
            session_id=question.session_id,
            user_message=question,
            after=after,
            created_at=timezone.now(),
            additional_context=beside.additional_context,
            is_context_instructing=beside.instructs,
            knowledge_bases=list(beside.knowledge_bases) or None,
            earlier_knowledge_bases=list(beside.earlier_bases) or None,
            request_id=log_context.current_request_id(),
            api_token=log_context.current_api_token(),
        )
        answers = [
            # Siblings are ordered by time.
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
                options=options,
                ready_queue=None if after else model.queue,
            )
            for index, (model, answer) in enumerate(zip(models, answers, strict=True))
        ]
        return cls(turn, runs, messages=answers, latest_child=answers[0])

    @property
    def question(self) -> ChatMessage:
        return self.turn.user_message

    def set_on_runs(self, dynamic_context: str, knowledge: RunKnowledge, *, forced_tool: str = "") -> None:
        """Set what the models are given beside the branch, and the tool that they must call first."""
        for run in self.runs:
            run.dynamic_context, run.forced_tool = dynamic_context, forced_tool
            run.knowledge_bases, run.are_bases_picked, run.knowledge_access = knowledge

    def with_new_question(self, named_models: Sequence[str] | None = None) -> "TurnInsert":
        """Return a copy that also inserts the question. named_models: the models that the sender named."""
        question = self.question
        question.latest_child = self.latest_child
        return replace(
            self, messages=[question, *self.messages], latest_child=question, named_models=named_models
        )

    def replacing(self, replaced: Run, *, stays_aside: bool) -> "TurnInsert":
        """Return a copy whose only answer stands in the column of `replaced`, an earlier run of the same question.

        stays_aside: the conversation continues from another column, and that does not change.
        """
        self.turn.origin_id = replaced.turn.columns_id
        [run] = self.runs
        run.model_index = replaced.model_index
        return replace(self, latest_child=None if stays_aside else self.latest_child)

    def store(self, latest_event: int, payload: JSONObject) -> SessionEvent | None:
        """Store all rows; the first answer becomes the tip if `latest_child` is set. Returns the event, to be
        published.

        latest_event: the session's latest event when the turn was planned. Returns None, and stores nothing, if there
        is a newer one, or if the owner's runs of today would exceed `most_runs`. The path to the parent of
        `latest_child` must be current.
        """
        shown = self.latest_child
        stored = _STORE.first(
            session=self.turn.session_id,
            latest_event=latest_event,
            messages=rows(self.messages),
            turns=rows([self.turn]),
            runs=rows(self.runs),
            latest_child=shown and shown.pk,
            parent=shown and shown.parent_id,
            leaf=shown and self.runs[0].message_id,
            new_runs=len(self.runs),
            most_runs=self.most_runs,
            token=self.turn.api_token,
            has_picked_bases=self.turn.knowledge_bases is not None,
            models=None if self.named_models is None else list(self.named_models),
            payload=Jsonb(payload),
            planned_at=self.turn.created_at,
        )
        return SessionEvent.recorded(stored, "turn_started", payload) if stored else None


# Every change of a branch's end, or of the turn that a reply waits for, records an event of the session.
_IF_UNCHANGED = "WHERE EXISTS (SELECT FROM session)"
# Times of the rows count from the database's clock: those of web hosts differ, but claims compare deadlines with it, and
# siblings are ordered by time.
_SINCE_PLANNED = "(STATEMENT_TIMESTAMP() - %(planned_at)s::timestamptz)"
_CREATED_AT = f"created_at + {_SINCE_PLANNED}"
_MESSAGES = insertion(ChatMessage, "messages", sent_at=f"sent_at + {_SINCE_PLANNED}")
_TURNS = insertion(Turn, "turns", created_at=_CREATED_AT)
_RUNS = insertion(
    Run,
    "runs",
    created_at=_CREATED_AT,
    deadline=f"deadline + {_SINCE_PLANNED}",
    asker_id="(SELECT owner_id FROM session)",
)
# Plan: primary keys, one_daily_use_per_user_and_day.
_STORE = Statement(
    f"""
    WITH held AS (
        SELECT owner_id FROM chat_session
        WHERE id = %(session)s AND latest_event = %(latest_event)s AND deleted_at IS NULL FOR NO KEY UPDATE
    ), {count_runs_sql("held")}, session AS (
        UPDATE chat_session
        SET leaf_id = COALESCE(%(leaf)s::uuid, leaf_id), updated_at = STATEMENT_TIMESTAMP(), latest_event = latest_event + 1, is_measured = FALSE,
            seen_event = latest_event + 1, -- a user who sends a message has seen the answers above it
            models = COALESCE(%(models)s::varchar[], models), has_picked_bases = has_picked_bases OR %(has_picked_bases)s
        FROM counted WHERE id = %(session)s RETURNING chat_session.*
    ), message AS ({_MESSAGES} {_IF_UNCHANGED}),
    turn AS ({_TURNS} {_IF_UNCHANGED}),
    run AS ({_RUNS} {_IF_UNCHANGED}),
    shown AS (
        UPDATE chat_chatmessage SET latest_child_id = %(latest_child)s::uuid {_IF_UNCHANGED} AND id = %(parent)s::uuid
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, 'turn_started', %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.*, {SESSION}, TRUE, {IS_WAITING} FROM event, session -- TRUE: the session is being answered
    """,  # noqa: S608  names of tables and columns alone
    RecordedEvent,
)


@dataclass(frozen=True)
class StartedTurn:
    """A stored turn. is_repeat: an earlier request with the same client_message_id stored it."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    is_repeat: bool = False


def store_turn(insert: TurnInsert, latest_event: int) -> StartedTurn | None:
    """Store a planned turn. latest_event: the session's latest event when it was planned.
    Returns None, and stores nothing, if there is a newer event, or if the runs of today are used up."""
    event = insert.store(latest_event, present_turn(insert.turn, insert.runs))
    if event is None:
        return None
    session_events.publish_on_commit(event)
    if insert.turn.after_id is None:  # otherwise the end of that turn enqueues them
        task_queue.enqueue_on_commit(insert.runs)
    return StartedTurn(insert.turn, insert.runs)


def store_turn_locked(insert: TurnInsert, latest_event: int) -> StartedTurn:
    """Store a planned turn for a caller that took the session's lock before it read latest_event.
    Raises ApiError if a send in another session has taken the last run of the day."""
    started = store_turn(insert, latest_event)
    if started is None:
        daily_limits.check_again(insert.turn.session.owner_id, len(insert.runs))
        raise RuntimeError(f"session {insert.turn.session_id} changed under its lock")
    return started
