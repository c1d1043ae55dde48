"""Edits an answer: the owner's text becomes a sibling of it, without a run, and the end of the current branch.

What the model did for its answer, its reasoning and tool calls, belongs to the original, which stays. Of its citations,
those are kept that the new text still links to.
"""

from django.conf import settings
from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.loaders.rounds import load_citations
from chat.models import ChatMessage, CitedDocument, EditedAnswer, Role, run_of
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.runs.turn_queue import blocking_turn
from chat.transcript.citation_links import linked_documents
from chat.transcript.tokens import count_tokens
from chat.turns.current_branch import lock_session, make_path_current
from chat.turns.question_text import check_room
from chat.turns.request import check_text


def edit_answer(answer: ChatMessage, text: str) -> ChatMessage:
    """Returns the edited answer. Raises ApiError; then nothing was stored."""
    check_text(text, settings.MAX_MESSAGE_CHARACTERS)
    tokens = count_tokens(text)
    with transaction.atomic():
        session = lock_session(answer.session)
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
    """The question of an answer that may be edited. Raises ApiError for any other message."""
    if original.role != Role.ASSISTANT or original.parent is None:
        raise ApiError("role_order", "Only an answer can be edited.")
    # Its own turn, or the one that it waited for when it was stopped: a reply to the edited answer would not wait for it.
    if blocking_turn(original):
        raise ApiError("answer_in_progress")
    # So the answer above, which no model may have read yet, cannot be continued with an edited answer below it.
    if not original.text.strip():
        raise ApiError("role_order", "There is no text to edit.")
    quotas.check_answers(original.siblings().count(), 1)
    return original.parent


def _model_of(original: ChatMessage) -> str:
    if run := run_of(original):
        return run.model
    edited: EditedAnswer | None = getattr(original, "edited", None)
    return edited.model if edited else ""
