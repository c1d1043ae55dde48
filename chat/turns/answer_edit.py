"""Edits an answer: the owner's text becomes a sibling of it, without a run, and the end of the current branch.

The model's reasoning and tool calls stay with the original, which is kept. The edited answer takes over the citations
that its text still links to.
"""

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.loaders.rounds import load_citations
from chat.models import ChatMessage, CitedDocument, EditedAnswer, Role, run_of
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.runs.turn_queue import blocking_turn
from chat.transcript.citations import linked_documents
from chat.transcript.tokens import count_tokens
from chat.turns.current_branch import lock_session, make_path_current
from chat.turns.request import check_text
from chat.turns.waiting import check_room


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
