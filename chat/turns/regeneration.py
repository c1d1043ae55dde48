"""Answers a user message again, or continues an answer that was cut, stopped or broken off.

A retry replaces one answer in its column. The branch stays as it is if the conversation goes on from another column.

The attempt that continues an answer opens the log with the text so far; from then on the run continues as after the loss of a worker.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Self
from uuid import UUID

from django.db import transaction
from msgspec import UNSET, UnsetType
from redis.exceptions import RedisError

from chat.events import session_events
from chat.infrastructure import log_context
from chat.infrastructure.background import call_after_commit
from chat.log.rebuilt import present_stored
from chat.log.stream import append_now, run_log
from chat.models import ChatMessage, EditedAnswer, Role, Run, Session, TipSnapshot, Turn
from chat.models.run_fields import run_limits
from chat.models.turn import SentBeside
from chat.models.usage import DailyUse
from chat.presenters.runs import present_continuation
from chat.prompts import dynamic_context, prompt_blocks
from chat.protocol.body import Body, SomeModels
from chat.protocol.errors import ApiError
from chat.protocol.wire import Snapshot, encode
from chat.runs import admission, daily_limits, quotas, task_queue, turn_parts, turn_queue
from chat.transcript.answer_settings import OptionsBody, RunOptions
from chat.turns import knowledge_bases, selection
from chat.turns.current_branch import apply_while_answering, lock_session, make_path_current
from chat.turns.insert import StartedTurn, TurnInsert, store_turn_locked


def _current_run(question: ChatMessage, runs: Sequence[Run]) -> Run | None:
    """Return the run of the question's current answer, or of the answer that was edited; None if it has none here."""
    by_message = {run.message_id: run for run in runs}
    originals: dict[UUID, UUID | None] = {}
    current = question.latest_child_id
    if runs and current not in by_message:
        edited = EditedAnswer.objects.filter(message__parent=question)
        originals = dict(edited.values_list("message", "original"))
    while current in originals:
        current = originals.pop(current)
    return by_message.get(current) if current else None


class AnswerColumns(NamedTuple):
    """The columns that are shown below a question, and the column in which an answer is replaced.

    runs: the newest run of each column, by model_index.  answers: the number of the question's answers that count.
    replaced: the run whose answer is replaced; None means that a new turn has columns of its own.
    stays_aside: whether the conversation continues from another column than that of `replaced`.
    """

    runs: list[Run]
    answers: int
    replaced: Run | None
    stays_aside: bool

    @classmethod
    def read(cls, question: ChatMessage, replace: UUID | None) -> Self:
        """Read the columns. replace: the run to replace. Raises ApiError if it does not answer the question."""
        answering = Run.objects.filter(turn__user_message=question).select_related("turn")
        runs = list(answering.order_by("model_index", "created_at"))
        current = _current_run(question, runs)
        replaced = next((run for run in runs if run.pk == replace), None)
        if replace and replaced is None:
            raise ApiError("run_not_found", field="replace")
        chosen = replaced or current or max(runs, key=lambda run: run.created_at, default=None)
        place = chosen.turn.columns_id if chosen else None
        newest = {run.model_index: run for run in runs if run.turn.columns_id == place}
        stays_aside = (
            replaced is not None
            and current is not None
            and current.turn.columns_id == place
            and current.model_index != replaced.model_index
        )
        # The steps of a program that carries calls out are answers too, as many as it takes.
        answers = sum(not run.turn.given_rounds for run in runs)
        return cls(list(newest.values()), answers, replaced, stays_aside)

    @property
    def options(self) -> RunOptions:
        """The options of the replaced run, or of the columns' first run."""
        runs = [self.replaced] if self.replaced else self.runs
        return runs[0].options if runs else {}

    @property
    def models(self) -> list[str]:
        """The names of the models: that of the replaced run, or those of all columns."""
        return [run.model for run in ([self.replaced] if self.replaced else self.runs)]


class ReplacedBody(Body):
    # The run in whose column the only new answer stands.
    run: UUID


class RegenerationBody(Body):
    # A column has the answer of one model.
    keywords = {"not": {"required": ["models", "replace"], "properties": {"models": {"minItems": 2}}}}

    # UNSET: the models that answered before.
    models: SomeModels | UnsetType = UNSET
    # UNSET: a new turn has columns of its own.
    replace: ReplacedBody | UnsetType = UNSET
    # Override those of the earlier answer; null as a value means the model's default.
    options: OptionsBody | UnsetType | None = UNSET


def regenerate_turn(
    question: ChatMessage, request: RegenerationBody, instructions: str | None = None
) -> StartedTurn:
    """Start another turn for a stored user message. Raises ApiError; then nothing was stored.

    The session's own choice of models does not change.  instructions: in the place of the context
    that the question has; None for that.
    """
    if question.role != Role.USER:
        raise ApiError("role_order", "Only a user message can be answered again.")
    if request.replace and request.models and len(request.models) > 1:
        raise ApiError("models_invalid", "One model answers in a column.", field="models")
    task_queue.check_reachable()
    turn_parts.before_answer(question.session)
    beside = Turn.objects.sent_beside(question)
    if instructions is not None:
        beside = beside._replace(additional_context=instructions, instructs=True)
    bases = knowledge_bases.load_bound_bases(question.session, beside.knowledge_bases, question.parent_id)
    beside = beside._replace(earlier_bases=bases.earlier)
    provided_context = dynamic_context.build(question.session, bases)
    with transaction.atomic():
        session = lock_session(question.session, question)
        question.refresh_from_db(fields=["latest_child"])
        columns = AnswerColumns.read(question, request.replace.run if request.replace else None)
        insert, latest_event = _plan(session, question, request, columns, beside)
        context = prompt_blocks.run_context(session.agent, provided_context, beside)
        insert.set_on_runs(context, knowledge_bases.knowledge_of_run(bases))
        prompt_blocks.store(question, session, provided_context)
        if not columns.stays_aside:
            make_path_current(question)
        return store_turn_locked(insert, latest_event)


def _plan(
    session: Session,
    question: ChatMessage,
    request: RegenerationBody,
    columns: AnswerColumns,
    beside: SentBeside,
) -> tuple[TurnInsert, int]:
    """Return the rows to store, and the session's latest event when they were planned. Raises ApiError."""
    names = selection.model_names(
        request.models or None, [columns.models, *selection.standing_choices(session)]
    )
    snapshot = TipSnapshot.read(session, names, None)
    if snapshot is None:
        raise ApiError("session_not_found")
    choices = [columns.models, *selection.standing_choices(session, snapshot.preferred)]
    models = selection.choose_models(snapshot.models, request.models or None, choices)
    if columns.replaced:
        models = models[:1]
    quotas.check_answers(columns.answers, len(models))
    quotas.check_storage(session.owner_id, snapshot.stored_bytes)
    admission.check(snapshot.own_runs, snapshot.queued_runs, [model.queue for model in models])
    daily_limits.check(snapshot.account, len(models))
    after = apply_while_answering(
        session, turn_queue.blocking_turn(question.parent or ChatMessage.objects.root_of(session))
    )
    sent_options = request.options.members() if request.options else {}
    options = selection.choose_options([columns.options, sent_options], models)
    insert = TurnInsert.answering(question, models, after, beside, options)
    if columns.replaced:
        insert = insert.replacing(columns.replaced, stays_aside=columns.stays_aside)
    return replace(insert, most_runs=snapshot.account.most_runs), snapshot.latest_event


logger = logging.getLogger(__name__)


class Continuation(NamedTuple):
    """A continued run, as it is now.  is_repeat: it was being continued already."""

    run: Run
    is_repeat: bool = False


def continue_answer(run: Run) -> Continuation:
    """Queue the run again. Raises ApiError; then nothing was changed.

    run: from for_work(). A run that is being continued already stays as it is: two tabs start one continuation.
    """
    task_queue.check_reachable()
    turn_parts.before_answer(run.turn.session)
    beside = run.turn.beside
    parent = run.turn.user_message.parent_id
    bases = knowledge_bases.load_bound_bases(run.turn.session, beside.knowledge_bases, parent)
    provided_context = dynamic_context.build(run.turn.session, bases)
    with transaction.atomic():
        session = lock_session(run.turn.session, run.message)
        now = _read(run.pk)
        if now.is_live and now.continuations:
            return Continuation(now, is_repeat=True)
        if not now.may_go_on:
            raise ApiError("not_continuable")
        if not run_limits().allow_more(now.spending, len(now.message.text)):
            raise ApiError("run_limit_reached")
        _admit(session, now.queue)
        context = prompt_blocks.run_context(session.agent, provided_context, beside)
        token = log_context.current_api_token()
        if not Run.objects.queue_again(run.pk, context, knowledge_bases.knowledge_of_run(bases), token):
            raise ApiError("not_continuable")
        continued = _read(run.pk)
        call_after_commit(_open_log, continued)
        session_events.record(session, "run_continued", present_continuation(continued))
        task_queue.enqueue_on_commit([continued])
    return Continuation(continued)


def _read(run_id: UUID) -> Run:
    return Run.objects.for_work().get(pk=run_id)


def _admit(session: Session, queue: str) -> None:
    """Check the limits, and count the continuation as one more run of today. Raises ApiError."""
    snapshot = TipSnapshot.read(session, None, None)
    if snapshot is None:
        raise ApiError("session_not_found")
    quotas.check_storage(session.owner_id, snapshot.stored_bytes)
    admission.check(snapshot.own_runs, snapshot.queued_runs, [queue])
    daily_limits.check(snapshot.account, 1)
    if not DailyUse.objects.count_run(session.pk, snapshot.account, log_context.current_api_token()):
        raise daily_limits.refusal(snapshot.account.runs)


def _open_log(run: Run) -> None:
    """Replace the log, which ends with `stop`, by the text so far: readers from its beginning then wait for more."""
    snapshot = Snapshot(str(run.pk), run.attempt, 0, present_stored(run))
    try:
        append_now(run_log(run.turn.session_id, run.pk), run.attempt, 0, [encode(snapshot)], base=0)
    except RedisError as error:
        # The next attempt replaces it as well.
        logger.warning("run %s: its log still ends with the first stop: %s", run.pk, error)
