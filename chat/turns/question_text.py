"""Changes the text of a question that waits for the answer above it.
It has no answer yet, so it stays the same message."""

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import ChatMessage, StoredBytes
from chat.runs import quotas
from chat.transcript.tokens import count_tokens
from chat.turns.current_branch import lock_session
from chat.turns.request import check_text
from chat.turns.waiting import get_waiting_turn


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
