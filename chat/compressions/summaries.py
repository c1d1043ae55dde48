"""Summaries in the tree: which one stands for the older part of a branch, and how one is stored.

A summary hangs below the last user message that was known when it was written, covers everything up to its cutoff,
and deletes nothing. It is used wherever its parent is on the branch, and nowhere else.
"""

from typing import Any, NamedTuple
from uuid import UUID

from chat.models import ChatMessage, Role
from chat.models.sql.statements import BRANCH, Statement

# Needs a table `branch` (id, depth: 0 at the leaf). The session's few summaries are looked at, not every message.
# Nearest to the leaf first: it knows most of the branch.
CHOSEN = """
    SELECT made.id, made.text, made.sent_at, made.token_count, made.last_summarized_message_id AS cutoff
    FROM chat_chatmessage AS made JOIN branch ON branch.id = made.parent_id
    WHERE made.session_id = (SELECT session_id FROM chat_chatmessage WHERE id = %(leaf)s)
        AND made.role = 'summary' AND made.last_summarized_message_id IS NOT NULL
    ORDER BY branch.depth, made.sent_at DESC, made.id DESC LIMIT 1
"""


class Summary(NamedTuple):
    """cutoff: the last message it stands for.  token_count: of its text, in the default encoding."""

    id: UUID
    text: str
    token_count: int
    cutoff: UUID


# Parameters: leaf. Plan: BRANCH, summary_by_session.
_FIND = Statement(
    f"{BRANCH} SELECT id, text, token_count, cutoff FROM ({CHOSEN}) AS chosen",  # noqa: S608  constants alone
    Summary,
)


def find_summary_for_branch(leaf: Any) -> Summary | None:
    """The newest whose parent is on the branch to `leaf` (a message or its id)."""
    pk = leaf.pk if isinstance(leaf, ChatMessage) else leaf
    return _FIND.first(leaf=pk)


def store_summary(parent: ChatMessage, cutoff_id: Any, text: str, token_count: int) -> ChatMessage:
    """Below `parent`, the only one of its cutoff there: what is there already stays. The caller holds the session's lock."""
    there = ChatMessage.objects.filter(parent=parent, role=Role.SUMMARY, last_summarized_message=cutoff_id)
    return there.first() or ChatMessage.objects.append(
        parent, role=Role.SUMMARY, last_summarized_message_id=cutoff_id, text=text, token_count=token_count
    )
