"""What is known of a tool: its identity, its annotations about the effects of calls, and which hints are believed. Pure.

The terms and their defaults are those of the Model Context Protocol's tool annotations (revision 2025-11-25,
modelcontextprotocol.io).

A server may list other hints to each account, and other ones tomorrow. A hint that lets a tool be called with less asking than
before is kept as a claim (`claimed` of the tool), and is believed when staff confirm it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from chat.protocol.call_answers import ToolChange

MAX_SUMMARY_CHARACTERS: Final = 300
# Not the dots of "e.g. tides" and "3.5".
_SENTENCE_END: Final = re.compile(r"[.!?](?= [^a-z])|[.!?]$|[\u3002\uff01\uff1f]")


class ToolIdentity(NamedTuple):
    """server: the id of the tool's server.  address: the digest of how it is reached.
    definition: the digest of the tool as its server has listed it.
    All are empty for a built-in tool, whose name says which it is.
    """

    server: str = ""
    address: str = ""
    definition: str = ""

    def change_to(self, now: "ToolIdentity") -> str:
        """Return the greatest change; empty: there is none, or it is not known what the tool was."""
        if not self.server:
            return ""
        changes = zip(ToolChange, self, now, strict=True)
        return next((str(change) for change, before, after in changes if before != after), "")


class AskedTool(NamedTuple):
    """The tool of a call that waits, as its run was offered it. parameters: the JSON Schema of its arguments.
    changed: a ToolChange since the user has allowed a tool of this name; empty: none.
    summary: the first sentence of its description.
    """

    parameters: dict[str, Any]
    identity: ToolIdentity = ToolIdentity()
    changed: str = ""
    summary: str = ""


def first_sentence(description: str) -> str:
    """Return the first sentence of a tool's description, in one line, or its beginning if that is long."""
    text = " ".join(description.split())
    end = _SENTENCE_END.search(text)
    sentence = text[: end.end()] if end else text
    return (
        sentence if len(sentence) <= MAX_SUMMARY_CHARACTERS else f"{sentence[: MAX_SUMMARY_CHARACTERS - 1]}…"
    )


def digest(value: Any) -> str:
    """Return the digest of a JSON value, whatever the order of its members."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


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


Tools = list[dict[str, Any]]

# The hints with which a tool asks most, those of the specification for a tool without any.
STRICTEST: Final = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}


def held(listed: Iterable[Mapping[str, Any]], before: Sequence[Mapping[str, Any]] | None) -> Tools:
    """Return the tools with the hints that are believed. before: as believed until now; None: this is the first list."""
    if before is None:
        return [dict(tool) for tool in listed]
    return [_limited(tool, _hints_by_name(before).get(tool["tool"], STRICTEST)) for tool in listed]


def limited(listed: Iterable[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> Tools:
    """Return the tools with hints no weaker than those of the same tools among `others`."""
    by_name = _hints_by_name(others)
    return [dict(tool) | _stricter(tool, by_name.get(tool["tool"], tool)) for tool in listed]


def confirmed(tools: Iterable[Mapping[str, Any]]) -> Tools:
    """Return the tools with the hints that their server claims."""
    return [
        {name: value for name, value in tool.items() if name != "claimed"} | tool.get("claimed", {})
        for tool in tools
    ]


def unconfirmed(tools: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the server's own names of the tools with claims."""
    return {str(tool["tool"]) for tool in tools if tool.get("claimed")}


def _hints_by_name(tools: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {tool["tool"]: tool for tool in tools}


def _limited(tool: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any]:
    believed = _stricter(tool, limit)
    claimed = {name: tool[name] for name in STRICTEST if tool[name] != believed[name]}
    return dict(tool) | believed | ({"claimed": claimed} if claimed else {})


def _stricter(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, bool]:
    """Return of each hint the value with which a tool asks more."""
    return {
        name: strictest if strictest in (one[name], other[name]) else not strictest
        for name, strictest in STRICTEST.items()
    }
