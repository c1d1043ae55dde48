"""Withdraws a question that waits for the answer above it: stops its turn and takes it out of the current branch.

The message stays in the tree, beside the questions that waited below it: they take its place below the answer above.
"""

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import ChatMessage, Role, Session
from chat.prompts import prompt_blocks
from chat.runs import cancellation
from chat.turns.current_branch import lock_session
from chat.turns.waiting import get_waiting_turn


def withdraw_question(question: ChatMessage) -> Session:
    """Withdraw the question, and return its session. Raises ApiError; then nothing was changed."""
    with transaction.atomic():
        session = lock_session(question.session)
        turn = get_waiting_turn(question)
        answer_above = ChatMessage.objects.get(children=question)
        _take_out(question, answer_above, session)
        turn.followers.update(after=turn.after)
        record_session_changed(session)
    # Even if the wait has ended meanwhile: the branch is no longer shown.
    cancellation.stop_turn(turn)
    return session


def _take_out(question: ChatMessage, answer_above: ChatMessage, session: Session) -> None:
    """Move the questions below `question` up to the answer above it, and the current branch with them."""
    is_on_branch = (
        ChatMessage.objects.branch_to(session.leaf_id or question.pk).filter(pk=question.pk).exists()
    )
    is_shown = answer_above.latest_child_id == question.pk
    answers = list(question.children.filter(role=Role.ASSISTANT).only("id", "latest_child"))
    below = ChatMessage.objects.filter(parent__in=answers, role=Role.USER)
    moved = list(below.order_by("sent_at", "id"))
    shown_answer = next((one for one in answers if one.pk == question.latest_child_id), None)
    next_shown = next((one for one in moved if shown_answer and one.pk == shown_answer.latest_child_id), None)
    prompt_blocks.copy(question, moved)
    below.update(parent=answer_above)
    question.children.filter(role=Role.ASSISTANT).update(latest_child=None)
    if is_shown and next_shown:
        next_shown.parent_id = answer_above.pk
        next_shown.choose()
    elif is_shown:
        answer_above.end_branch()
    if is_on_branch and not next_shown:
        session.point_at(answer_above)
