"""Annotations of a tool about the effects of its calls, and the rules that follow from them. Pure.

The terms and their defaults are those of the Model Context Protocol's tool annotations (revision 2025-11-25,
modelcontextprotocol.io).
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class Annotations:
    """The effects of a tool's calls.

    is_read_only: it changes nothing.  is_destructive: it may undo or overwrite existing data.  is_idempotent: a second
    call with the same arguments changes nothing more.  is_open_world: it reaches what the deployment does not know.
    """

    is_read_only: bool = False
    is_destructive: bool = True
    is_idempotent: bool = False
    is_open_world: bool = True

    @property
    def may_run_again(self) -> bool:
        """Whether a call whose result was lost may be executed again."""
        return self.is_read_only or self.is_idempotent

    @classmethod
    def of_all(cls, each: Collection["Annotations"]) -> "Annotations":
        """Combine the annotations of the tools that one tool may use."""
        return cls(
            is_read_only=all(one.is_read_only for one in each),
            is_destructive=any(one.is_destructive for one in each),
            is_idempotent=all(one.is_idempotent for one in each),
            is_open_world=any(one.is_open_world for one in each),
        )


READ_ONLY: Final = Annotations(
    is_read_only=True, is_destructive=False, is_idempotent=True, is_open_world=False
)


class ApprovalRule(StrEnum):
    """The condition on which a call of a tool needs its user's approval."""

    NEVER = "never"
    ASK = "ask"
    ASK_UNLESS_READ_ONLY = "ask_unless_read_only"

    def needs_approval(self, annotations: Annotations) -> bool:
        return self is ApprovalRule.ASK or (
            self is ApprovalRule.ASK_UNLESS_READ_ONLY and not annotations.is_read_only
        )


# Each asks at least as often as the one before it.
STRICTER: Final = (ApprovalRule.NEVER, ApprovalRule.ASK_UNLESS_READ_ONLY, ApprovalRule.ASK)
DEFAULT_RULE: Final = ApprovalRule.ASK_UNLESS_READ_ONLY
