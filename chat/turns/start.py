"""The verbs that make a turn: start, regenerate, select. Stopping one is chat/runs/cancellation.py.

Each is one short transaction under the session's lock, with no I/O inside; the event is pushed and the tasks
are enqueued after the commit, in that order. Who may touch the session is decided by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.events import session_events
from chat.events.session_changed import record_session_changed
from chat.models import ChatMessage, ModelConfig, Role, Run, Session, TipSnapshot, Turn
from chat.models.session import WhileAnswering
from chat.models.turn import Tip
from chat.prompts import dynamic_context, prompt_blocks
from chat.protocol.errors import ApiError
from chat.runs import admission, cancellation, task_queue, turn_queue
from chat.transcript.tokens import count_tokens
from chat.turns import files as turn_files
from chat.turns import selection
from chat.turns.insert import Beginning
from chat.turns.request import Place, TurnRequest, check_models


@dataclass(frozen=True)
class StartedTurn:
    """A turn that is committed. repeated: by an earlier request with the same client_message_id."""

    turn: Turn
    runs: Sequence[Run]  # by model_index
    repeated: bool = False

    def shape(self) -> dict[str, Any]:
        """As clients see it: the answer to a send, and the payload of `turn_started`."""
        runs = [
            {
                "id": str(run.pk),
                "message": str(run.message_id),
                "model": run.model,
                "model_index": run.model_index,
            }
            for run in self.runs
        ]
        return {"turn": str(self.turn.pk), "user_message": str(self.turn.user_message_id), "runs": runs}


def start_turn(session: Session, request: TurnRequest) -> StartedTurn:
    """Store a message and its runs, and enqueue them.

    A repeat of client_message_id returns the first answer. Raises ApiError; then nothing was stored.
    """
    request.check(settings.MAX_MESSAGE_CHARACTERS)
    return _start_at_once(session, request) or _start_in_order(session, request)


def _start_at_once(session: Session, request: TurnRequest) -> StartedTurn | None:
    """The ordinary send, at a tip that waits for nothing: it is stored only if nothing has happened since it looked.

    Without a lock, and so in two visits to the database. None: it is not ordinary, or something has happened.
    """
    agent = session.agent
    if request.files or request.parent is not Place.TIP or prompt_blocks.are_stored(agent):
        return None
    forced_tool = selection.forced_tool(request.forced_tool, agent)
    names, most = selection.names(request.models, agent), selection.count(request.models, agent)
    found = TipSnapshot.of(session, names, most, request.client_message_id)
    if found is None:
        return None
    models = found.models if names is None else selection.ordered(found.models, names)
    if request.models and len(models) != len(request.models):
        return None
    admission.admit(found.own, found.queued, len(models))
    task_queue.check_reachable()
    question = _question(found.tip, request, count_tokens(request.text))
    known = dynamic_context.build(session)
    context = prompt_blocks.for_the_run(agent, known, request.additional_context)
    answering = _answering(question, models, None, dynamic_context=context, forced_tool=forced_tool)
    return _begin(found.latest_event, answering.asked(question))


def _start_in_order(session: Session, request: TurnRequest) -> StartedTurn:
    """Any send, one after the other: under the session's lock."""
    earlier = _earlier(session, request)
    if earlier:
        return earlier
    files = turn_files.readable(session, request.files)
    forced_tool = selection.forced_tool(request.forced_tool, session.agent)
    admission.check(session, selection.count(request.models, session.agent))
    task_queue.check_reachable()
    token_count = count_tokens(request.text)
    known = dynamic_context.build(session)
    with transaction.atomic():
        tip = _lock_tip(session)
        session = tip.session
        # Again: the same request may have been committed while this one waited for the lock.
        earlier = _earlier(session, request)
        if earlier:
            return earlier
        models = selection.models(request.models, session.agent)
        parent, after = _place(tip, request.parent)
        question = _question(parent, request, token_count)
        if parent.pk != session.leaf_id:  # otherwise current already: a send does not walk the branch
            _make_path_current(parent)
        context = prompt_blocks.for_the_run(session.agent, known, request.additional_context)
        answering = _answering(question, models, after, dynamic_context=context, forced_tool=forced_tool)
        started = _begin_locked(session, answering.asked(question))
        turn_files.attach(question, files)
        prompt_blocks.store(question, session, known)
        return started


def regenerate_turn(message: ChatMessage, models: tuple[str, ...] | None = None) -> StartedTurn:
    """Answer a user message again; the new answers become siblings of the old ones."""
    if message.role != Role.USER:
        raise ApiError("role_order", "Only a user message can be answered again.")
    if models is not None:
        check_models(models)
    admission.check(message.session, selection.count(models, message.session.agent))
    task_queue.check_reachable()
    known = dynamic_context.build(message.session)
    with transaction.atomic():
        session = _lock(message.session)
        after = _wait_for(session, turn_queue.blocker(message.parent or session.root))
        context = prompt_blocks.for_the_run(session.agent, known, "")
        models_asked = selection.models(models, session.agent)
        answering = _answering(message, models_asked, after, dynamic_context=context)
        prompt_blocks.store(message, session, known)
        _make_path_current(message)
        return _begin_locked(session, answering)


def select_branch(message: ChatMessage) -> Session:
    """Make `message`, the path to it and what was last shown below it the current branch."""
    if message.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "Only a user message or an answer can be selected.")
    with transaction.atomic():
        session = _lock(message.session)
        _make_path_current(message)
        session.point_at(list(ChatMessage.objects.current_path_from(message).only("id"))[-1])
        record_session_changed(session)
    return session


def _lock(session: Session) -> Session:
    try:
        return _as_known(Session.objects.lock(session.pk), session)
    except Session.DoesNotExist:
        raise ApiError("session_not_found") from None


def _lock_tip(session: Session) -> Tip:
    try:
        tip = Turn.objects.lock_tip(session.pk)
    except Session.DoesNotExist:
        raise ApiError("session_not_found") from None
    _as_known(tip.session, session)
    return tip


def _as_known(locked: Session, session: Session) -> Session:
    if locked.agent_id == session.agent_id:
        locked.agent = session.agent  # read already
    return locked


def _earlier(session: Session, request: TurnRequest) -> StartedTurn | None:
    """What the same client_message_id started before; refuses another request under that id."""
    if request.client_message_id is None:
        return None
    message = session.messages.filter(client_message_id=request.client_message_id).first()
    if message is None:
        return None
    if message.request_digest != request.digest():
        raise ApiError("idempotency_mismatch", field="client_message_id")
    # Regenerations make further turns of the same message; the first is the one that was asked for.
    turn = message.turns.order_by("created_at")[0]
    return StartedTurn(turn, list(turn.runs.order_by("model_index")), repeated=True)


def _place(tip: Tip, wanted: Any) -> tuple[ChatMessage, Turn | None]:
    """The parent of a new message, and the turn that must end before it is answered."""
    session = tip.session
    if wanted is None:
        return session.root, None
    if wanted is Place.TIP:
        return tip.message, _wait_for(session, tip.blocker)
    parent = session.messages.select_related("run__turn__after").filter(pk=wanted).first()
    if parent is None:
        raise ApiError("parent_not_found", field="parent")
    if parent.role not in (Role.ROOT, Role.ASSISTANT):
        raise ApiError("role_order", field="parent")
    if turn_queue.blocker(parent):
        raise ApiError("parent_in_progress", field="parent")
    return parent, None


def _question(parent: ChatMessage, request: TurnRequest, token_count: int) -> ChatMessage:
    """Not stored yet."""
    return ChatMessage.objects.draft(
        parent,
        role=Role.USER,
        text=request.text,
        token_count=token_count,
        client_message_id=request.client_message_id,
        request_digest=request.digest() if request.client_message_id else "",
    )


def _wait_for(session: Session, blocker: Turn | None) -> Turn | None:
    """What while_answering makes of an answer that is still being written."""
    if blocker and session.while_answering == WhileAnswering.REJECT:
        raise ApiError("turn_in_progress")
    if blocker and session.while_answering == WhileAnswering.INTERRUPT:
        # After the commit: whoever is refused for another reason must not have stopped anything.
        transaction.on_commit(partial(cancellation.interrupt, blocker), robust=True)
    return blocker


def _answering(
    question: ChatMessage, models: Sequence[ModelConfig], after: Turn | None, **run_fields: Any
) -> Beginning:
    """A turn with one queued run per model, not stored yet.

    after: the turn that is waited for; its end wakes the workers.
    """
    turn = Turn(session_id=question.session_id, user_message=question, after=after, created_at=timezone.now())
    deadline = turn.created_at + timedelta(seconds=settings.RUN_DEADLINE_S)
    # Siblings are shown in the order of their times.
    answers = [
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
            deadline=deadline,
            **run_fields,
        )
        for index, (model, answer) in enumerate(zip(models, answers, strict=True))
    ]
    return Beginning(turn, runs, messages=answers, chosen=answers[0])


def _begin_locked(session: Session, beginning: Beginning) -> StartedTurn:
    started = _begin(session.latest_event, beginning)
    if started is None:
        raise RuntimeError(f"session {session.pk} changed under its lock")
    return started


def _begin(latest_event: int, beginning: Beginning) -> StartedTurn | None:
    """None: the session's latest event is another by now."""
    started = StartedTurn(beginning.turn, beginning.runs)
    event = beginning.store(latest_event, started.shape())
    if event is None:
        return None
    session_events.publish_on_commit(event)
    if beginning.turn.after_id is None:
        task_queue.enqueue_on_commit(beginning.runs)
    return started


def _make_path_current(message: ChatMessage) -> None:
    """Every message on the path to `message` shows the next one. The caller holds the session's lock."""
    path = ChatMessage.objects.branch_to(message).only("id", "parent", "latest_child")
    for parent, child in pairwise(path):
        if parent.latest_child_id != child.pk:
            child.choose()
