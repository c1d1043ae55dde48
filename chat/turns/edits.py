"""Edits without a run: of questions that wait for the answer above them, and of answers.

An edited answer is a sibling of the original. The model's reasoning and tool calls stay with the original, which is kept. The edited answer takes over the citations
that its text still links to.
"""

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.loaders.rounds import load_citations
from chat.models import (
    ChatMessage,
    CitedDocument,
    EditedAnswer,
    Role,
    Run,
    Session,
    StoredBytes,
    Turn,
    run_of,
)
from chat.prompts import prompt_blocks
from chat.protocol.errors import ApiError
from chat.runs import cancellation, quotas
from chat.runs.turn_queue import blocking_turn
from chat.transcript.citations import linked_documents
from chat.transcript.tokens import count_tokens
from chat.turns.current_branch import lock_session, make_path_current
from chat.turns.request import check_text


def get_waiting_turn(question: ChatMessage) -> Turn:
    """Return the turn that answers `question` and waits for another turn to end. Raises ApiError `not_waiting`.

    The caller holds the session's lock. Turns end under it, and no run of a turn is claimed before the turn that it
    waits for has ended: until the lock is released, no worker reads the question.
    """
    waiting = question.turns.filter(after__isnull=False, after__ended_at=None).order_by("created_at").last()
    if question.role != Role.USER or waiting is None:
        raise ApiError("not_waiting")
    # Earlier turns of the question may have been stopped by the user, but no run of them may have been claimed.
    if Run.objects.filter(turn__user_message=question, claimed_at__isnull=False).exists():
        raise ApiError("not_waiting")
    return waiting


def change_question(question: ChatMessage, text: str) -> ChatMessage:
    """Store a new text of the question, and return the question. Raises ApiError; then nothing was changed.

    A worker that claims one of its runs reads the old or the new text, never a mixture: it reads after the claim, which
    waits for the turn above, whose end waits for the lock taken here.
    """
    check_text(text)
    tokens = count_tokens(text)
    with transaction.atomic():
        session = lock_session(question.session)
        get_waiting_turn(question)
        check_room(session.owner_id, len(text.encode()) - len(question.text.encode()))
        ChatMessage.objects.filter(pk=question.pk).update(text=text, token_count=tokens)
        record_session_changed(session)
    question.text, question.token_count = text, tokens
    return question


def check_room(user_id: int, new_bytes: int) -> None:
    """Raise ApiError unless the user may store this many more bytes."""
    stored = StoredBytes.objects.filter(user=user_id).values_list("total", flat=True).first()
    quotas.check_storage(user_id, stored or 0, max(0, new_bytes))


def withdraw_question(question: ChatMessage) -> Session:
    """Withdraw the question, and return its session. Raises ApiError; then nothing was changed.

    Its turn is stopped. The message stays in the tree, beside the questions that waited below it: they take its place below
    the answer above.
    """
    with transaction.atomic():
        session = lock_session(question.session)
        turn = get_waiting_turn(question)
        answer_above = ChatMessage.objects.get(children=question)
        _remove_from_branch(question, answer_above, session)
        turn.followers.update(after=turn.after)
        record_session_changed(session)
    # Even if the wait has ended meanwhile: the branch is no longer shown.
    cancellation.stop_turn(turn)
    return session


def _remove_from_branch(question: ChatMessage, answer_above: ChatMessage, session: Session) -> None:
    """Move the questions below `question` up to the answer above it, and the current branch with them."""
    is_on_branch = (
        ChatMessage.objects.branch_to(session.leaf_id or question.pk).filter(pk=question.pk).exists()
    )
    is_shown = answer_above.latest_child_id == question.pk
    answers = list(question.children.filter(role=Role.ASSISTANT).only("id", "latest_child"))
    below = ChatMessage.objects.filter(parent__in=answers, role=Role.USER)
    moved = list(below.order_by("sent_at", "id"))
    shown_answer = next((answer for answer in answers if answer.pk == question.latest_child_id), None)
    next_shown = next(
        (message for message in moved if shown_answer and message.pk == shown_answer.latest_child_id), None
    )
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


def edit_answer(answer: ChatMessage, text: str) -> ChatMessage:
    """Store `text` as an edited version of the answer, and return it. Raises ApiError; then nothing was stored."""
    check_text(text)
    tokens = count_tokens(text)
    with transaction.atomic():
        session = lock_session(answer.session, answer)
        original = ChatMessage.objects.select_related("run", "edited", "parent").get(pk=answer.pk)
        question = _question_of(original)
        check_room(session.owner_id, len(text.encode()))
        edited = ChatMessage.objects.append(question, role=Role.ASSISTANT, text=text, token_count=tokens)
        EditedAnswer.objects.create(message=edited, original=original, model=_model_of(original))
        CitedDocument.objects.keep(edited.pk, linked_documents(text, load_citations(original.pk)))
        make_path_current(edited)
        session.point_at(edited)
        record_session_changed(session)
    return edited


def _question_of(original: ChatMessage) -> ChatMessage:
    """Return the question of an answer that may be edited. Raises ApiError for any other message."""
    if original.role != Role.ASSISTANT or original.parent is None:
        raise ApiError("role_order", "Only an answer can be edited.")
    # The blocker is the answer's own turn, or the turn that it waited for when it was stopped. A reply to the edited
    # answer would not wait for it.
    if blocking_turn(original):
        raise ApiError("answer_in_progress")
    # Without text, it may have been stopped before a model read the answer above, which can then still be continued:
    # not with an edited answer below it.
    if not original.text.strip():
        raise ApiError("role_order", "There is no text to edit.")
    quotas.check_answers(original.siblings().count(), 1)
    return original.parent


def _model_of(original: ChatMessage) -> str:
    if run := run_of(original):
        return run.model
    edited: EditedAnswer | None = getattr(original, "edited", None)
    return edited.model if edited else ""
