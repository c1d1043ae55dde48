"""Answers a user message again: the new answers become siblings of the earlier ones, and the current branch."""

from django.db import transaction

from chat.models import ChatMessage, Role, TipSnapshot
from chat.prompts import dynamic_context, prompt_blocks
from chat.protocol.errors import ApiError
from chat.runs import admission, task_queue, turn_queue
from chat.turns import selection
from chat.turns.current_branch import lock_session, make_path_current
from chat.turns.insert import TurnInsert
from chat.turns.request import check_models
from chat.turns.storage import StartedTurn, store_turn_locked
from chat.turns.while_answering import apply_while_answering


def regenerate_turn(question: ChatMessage, model_names: tuple[str, ...] | None = None) -> StartedTurn:
    """Start another turn for a stored user message. Raises ApiError; then nothing was stored."""
    if question.role != Role.USER:
        raise ApiError("role_order", "Only a user message can be answered again.")
    if model_names is not None:
        check_models(model_names)
    task_queue.check_reachable()
    provided_context = dynamic_context.build(question.session)
    with transaction.atomic():
        session = lock_session(question.session)
        snapshot = TipSnapshot.read(session, selection.model_names(model_names, session.agent), None)
        if snapshot is None:
            raise ApiError("session_not_found")
        models = selection.choose_models(snapshot.models, model_names, session.agent)
        admission.check(snapshot.own_runs, snapshot.queued_runs, len(models))
        after = apply_while_answering(
            session, turn_queue.blocking_turn(question.parent or ChatMessage.objects.root_of(session))
        )
        context = prompt_blocks.run_context(session.agent, provided_context, "")
        insert = TurnInsert.answering(question, models, after, dynamic_context=context)
        prompt_blocks.store(question, session, provided_context)
        make_path_current(question)
        return store_turn_locked(insert, snapshot.latest_event)
