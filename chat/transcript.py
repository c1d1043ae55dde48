"""Entry: the canonical value of one message between the database and the model. Pure.

Rows never travel into the loop: the worker loads a branch as entries, decides over entries, and only
llm_worker/llm.py turns them into the bare dicts the SDK takes. New fields of a message go here first.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EntryRole = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a branch, root and summaries left out."""

    id: str
    role: EntryRole
    text: str
    # UTC; stands behind each user message the model sees.
    sent_at: datetime
    # In the default encoding; 0 where unknown.
    token_count: int = 0
    reasoning: str = field(default="", compare=False)
