"""CallFacts: what is known of a tool call that has ended, beside its status and its response. Pure.

A new fact is a member here, a column of ToolCall of the same name, and what the worker sets (llm_worker/loop/tool_round.py). It is
a member of `section_end`, live and rebuilt, of the calls of messages, and of those in the file of a session.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from chat.protocol.member_types import doc

# The range of the columns.
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class CallFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    duration_ms: Annotated[Count | None, doc("How long the call ran, where known.")] = None


NO_FACTS: Final = CallFacts()
