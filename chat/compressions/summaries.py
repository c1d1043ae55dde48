"""Finds and stores summaries in the message tree.

A summary's parent is the last user message of the branch it was written for. For models whose window needs it, it
replaces everything up to its cutoff on every branch that contains its parent.
"""

from typing import NamedTuple
from uuid import UUID

from chat.models import ChatMessage, ModelConfig, Role
from chat.models.sql.statements import BRANCH, Statement


class Summary(NamedTuple):
    """cutoff: the last message that the summary replaces.  token_count: of its text, in the default encoding."""

    id: UUID
    text: str
    token_count: int
    cutoff: UUID


# Reads the session's few summaries instead of the children of every message. Prefers the parent nearest to the leaf:
# its summary was written when most of the branch existed.
# Parameters: leaf, model, context_window. Plan: BRANCH, summary_by_session.
_FIND = Statement(
    f"""{BRANCH}
    SELECT candidate.id, candidate.text, candidate.token_count, candidate.last_summarized_message_id
    FROM chat_chatmessage AS candidate JOIN branch ON branch.id = candidate.parent_id
    WHERE candidate.session_id = (SELECT session_id FROM chat_chatmessage WHERE id = %(leaf)s)
        AND candidate.role = 'summary' AND candidate.last_summarized_message_id IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM chat_compression WHERE summary_id = candidate.id
            HAVING bool_and(model <> %(model)s) AND max(history_window + reserved_tokens) < %(context_window)s
        )
    ORDER BY branch.depth, candidate.sent_at DESC, candidate.id DESC LIMIT 1
    """,  # noqa: S608  constants alone
    Summary,
)


def find_summary_for_branch(leaf: ChatMessage | UUID, model: ModelConfig | None = None) -> Summary | None:
    """Return the summary whose parent is on the branch, nearest to `leaf` (a message or its id); of several the newest.

    model: leaves out summaries made for other models with a smaller context window. Which summary a run uses depends
    on what its window leaves to history: llm_worker/request/summary_choice.py chooses it.
    """
    pk = leaf.pk if isinstance(leaf, ChatMessage) else leaf
    name, window = (model.name, model.counted_window) if model else ("", 0)
    return _FIND.first(leaf=pk, model=name, context_window=window)


def store_summary(parent: ChatMessage, cutoff_id: UUID, text: str, token_count: int) -> ChatMessage:
    """Store a summary below `parent`, or return the existing one with the same cutoff.

    The caller holds the session's lock.
    """
    existing = ChatMessage.objects.filter(parent=parent, role=Role.SUMMARY, last_summarized_message=cutoff_id)
    return existing.first() or ChatMessage.objects.append(
        parent, role=Role.SUMMARY, last_summarized_message_id=cutoff_id, text=text, token_count=token_count
    )
