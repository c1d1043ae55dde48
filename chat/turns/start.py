"""Starts a turn: stores a user message with one queued run per model, and enqueues the runs.

Every send takes the same steps: read a TipSnapshot, plan (raises ApiError), store. The ordinary send takes them without
a lock, in two round trips to the database; it stores nothing if the session has changed since the snapshot. Then the
steps are repeated under the session's lock. A send whose request or agent always needs the lock starts there.

The caller checks who may access the session.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from django.db import transaction
from msgspec import UNSET

from chat.models import ChatMessage, ModelConfig, Role, Session, TipSnapshot, Turn
from chat.presenters.tools import is_configured
from chat.prompts import dynamic_context, prompt_blocks
from chat.protocol.errors import ApiError
from chat.runs import admission, daily_limits, quotas, task_queue, turn_parts, turn_queue
from chat.transcript.answer_settings import RunOptions
from chat.transcript.tokens import count_tokens
from chat.turns import files as turn_files
from chat.turns import knowledge_bases, selection
from chat.turns.current_branch import apply_while_answering, lock_session, make_path_current
from chat.turns.insert import StartedTurn, TurnInsert, store_turn, store_turn_locked
from chat.turns.request import TurnBody
from knowledge.bases import BoundBases
from knowledge.models import File


def start_turn(session: Session, request: TurnBody, longest_text: int | None = None) -> StartedTurn:
    """Store a message and its runs, and enqueue them. longest_text: in characters, if another than people may send.

    A repeat of client_message_id returns the turn that was started first. Raises ApiError; then nothing was stored.
    """
    request.check(longest_text)
    turn_parts.before_answer(session)
    if _always_needs_lock(session, request):
        repeated = _find_repeated(session, request)  # first: its files may have failed since
        return repeated or _start_with_lock(session, request, _load_content(session, request))
    plan = _plan(session, request)
    if isinstance(plan, StartedTurn):
        return plan
    content = _load_content(session, request)
    return _store_without_lock(plan, content) or _start_with_lock(session, request, content)


def _always_needs_lock(session: Session, request: TurnBody) -> bool:
    """Return whether the message may not reply to the tip, or takes more than one statement to store."""
    return (
        request.parent is not UNSET
        or bool(request.files)
        or prompt_blocks.stores_prompt_blocks(session.agent)
    )


@dataclass(frozen=True)
class _Plan:
    """The models, tool and options that answer a message, chosen from a snapshot of its session."""

    session: Session
    request: TurnBody
    snapshot: TipSnapshot
    models: list[ModelConfig]  # by model_index
    forced_tool: str
    options: RunOptions

    @property
    def needs_lock(self) -> bool:
        """Whether the message waits for a turn or has no tip to reply to, or the session's agent or models changed."""
        snapshot = self.snapshot
        return (
            snapshot.blocker_id is not None
            or snapshot.tip is None
            or snapshot.agent_id != self.session.agent_id
            or snapshot.own_models != self.session.own_models
        )


class _Content(NamedTuple):
    """The parts of a message that do not depend on its branch; loaded once, outside of any transaction."""

    files: list[File]
    token_count: int
    bases: BoundBases
    provided_context: dynamic_context.ProvidedContext


def _plan(session: Session, request: TurnBody) -> _Plan | StartedTurn:
    """Plan the answers to the message. Returns the earlier turn for a repeat. Raises ApiError."""
    names = selection.model_names(request.models or None, selection.standing_choices(session))
    snapshot = TipSnapshot.read(session, names, request.client_message_id or None)
    if snapshot is None:
        raise ApiError("session_not_found")
    if snapshot.is_repeat and (repeated := _find_repeated(session, request)):
        return repeated
    if request.parent is UNSET and snapshot.tip and snapshot.tip.role == Role.USER:
        raise ApiError("role_order", "The latest question has no answer. Have it answered first.")
    forced_tool = selection.choose_forced_tool(
        request.forced_tool or None, session, partial(is_configured, session.owner_id)
    )
    choices = selection.standing_choices(session, snapshot.preferred)
    models = selection.choose_models(snapshot.models, request.models or None, choices)
    options = selection.choose_options([*selection.standing_options(session), request.run_options], models)
    quotas.check_answers(0, len(models))
    quotas.check_storage(session.owner_id, snapshot.stored_bytes, request.stored_bytes)
    admission.check(snapshot.own_runs, snapshot.queued_runs, [model.queue for model in models])
    daily_limits.check(snapshot.account, len(models))
    return _Plan(session, request, snapshot, models, forced_tool, options)


def _load_content(session: Session, request: TurnBody) -> _Content:
    files = turn_files.load_readable(session, request.files or [])
    bases = knowledge_bases.load_bound_bases(
        session,
        request.beside.knowledge_bases,
        session.leaf_id if request.parent is UNSET else request.parent,
    )
    knowledge_bases.choose_picked(session, bases)
    task_queue.check_reachable()
    return _Content(files, count_tokens(request.text), bases, dynamic_context.build(session, bases))


def _store_without_lock(plan: _Plan, content: _Content) -> StartedTurn | None:
    """Store the turn. Returns None if the plan needs the lock, or if the session has changed since the snapshot."""
    tip = plan.snapshot.tip
    if plan.needs_lock or tip is None:
        return None
    return store_turn(_turn_insert(plan, content, tip), plan.snapshot.latest_event)


def _start_with_lock(session: Session, request: TurnBody, content: _Content) -> StartedTurn:
    with transaction.atomic():
        plan = _plan(lock_session(session), request)
        if isinstance(plan, StartedTurn):
            return plan
        turn_files.check_fit(content.files, plan.models)
        return _store_with_lock(plan, content)


def _store_with_lock(plan: _Plan, content: _Content) -> StartedTurn:
    parent, after = _parent(plan)
    if parent.pk != plan.session.leaf_id:  # the path to the leaf is current already
        make_path_current(parent)
    insert = _turn_insert(plan, content, parent, after)
    started = store_turn_locked(insert, plan.snapshot.latest_event)
    turn_files.attach(insert.question, content.files, plan.models)
    prompt_blocks.store(insert.question, plan.session, content.provided_context)
    return started


def _parent(plan: _Plan) -> tuple[ChatMessage, Turn | None]:
    """Return the message that the new one replies to, and the turn that must end before it is answered.
    Raises ApiError."""
    session, wanted = plan.session, plan.request.parent
    if wanted is None:
        return ChatMessage.objects.root_of(session), None
    if wanted is UNSET:
        blocker_id = plan.snapshot.blocker_id
        blocker = Turn.objects.select_related("after").get(pk=blocker_id) if blocker_id else None
        return plan.snapshot.tip or ChatMessage.objects.root_of(session), apply_while_answering(
            session, blocker
        )
    parent = session.messages.select_related("run__turn__after").filter(pk=wanted).first()
    if parent is None:
        raise ApiError("parent_not_found", field="parent")
    if parent.role not in (Role.ROOT, Role.ASSISTANT):
        raise ApiError("role_order", field="parent")
    if turn_queue.blocking_turn(parent):
        raise ApiError("parent_in_progress", field="parent")
    return parent, None


def _turn_insert(
    plan: _Plan, content: _Content, parent: ChatMessage, after: Turn | None = None
) -> TurnInsert:
    request = plan.request
    question = ChatMessage.objects.draft(
        parent,
        role=Role.USER,
        text=request.text,
        token_count=content.token_count,
        client_message_id=request.client_message_id or None,
        request_digest=request.digest() if request.client_message_id else "",
    )
    agent, provided = plan.session.agent, content.provided_context
    insert = TurnInsert.answering(
        question,
        plan.models,
        after,
        request.beside._replace(earlier_bases=content.bases.earlier),
        plan.options,
    )
    insert.set_on_runs(
        prompt_blocks.run_context(agent, provided, request.beside),
        knowledge_bases.knowledge_of_run(content.bases),
        forced_tool=plan.forced_tool,
    )
    return replace(
        insert.with_new_question(request.models or None), most_runs=plan.snapshot.account.most_runs
    )


def _find_repeated(session: Session, request: TurnBody) -> StartedTurn | None:
    """Return the turn that an earlier request with the same client_message_id started, or None.
    Raises ApiError if the earlier request differs."""
    if not request.client_message_id:
        return None
    turns = Turn.objects.filter(session=session, user_message__client_message_id=request.client_message_id)
    # The first one: regenerations are later turns of the same message.
    turn = turns.select_related("user_message").order_by("created_at").first()
    if turn is None:
        return None
    if turn.user_message.request_digest != request.digest():
        raise ApiError("idempotency_mismatch", field="client_message_id")
    return StartedTurn(turn, list(turn.runs.order_by("model_index")), is_repeat=True)
