"""Compressions and their summaries as clients see them."""

from typing import Annotated
from uuid import UUID

from chat.models import ChatMessage
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, choice


class CompressionAskedAnswer(Answer):
    status: Annotated[str, choice(["queued", "nothing_to_compress"])]


class SummaryAnswer(Answer):
    id: UUID
    parent: UUID
    last_summarized_message: UUID
    text: str
    token_count: int
    saved_tokens: int | None
    model: str | None
    sent_at: Moment


class CompressionAnswer(Answer):
    summary: SummaryAnswer | None
    is_under_way: bool


def present_summary(message: ChatMessage) -> SummaryAnswer:
    made_by = message.made_by.first()
    return SummaryAnswer.from_row(
        message,
        parent=message.parent_id,
        last_summarized_message=message.last_summarized_message_id,
        saved_tokens=made_by.saved_tokens if made_by else None,
        model=made_by.model if made_by else None,
    )
