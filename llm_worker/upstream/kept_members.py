"""Collects the members of an answer that its server wants back with it, opaque. Pure."""

import json
from typing import Any, Final

from llm_worker.stream.arguments import parse_arguments
from llm_worker.upstream.deltas import Kept, SentMembers

# JSON of all of them. Signatures take some thousand characters; beyond this, nothing is kept.
MAX_CHARACTERS: Final = 256 * 1024


class KeptMembers:
    """For one answer. Lists that arrive in pieces are joined; of other values the latest counts."""

    def __init__(self) -> None:
        self._reasoning_name = ""
        self._members: dict[str, Any] = {}

    def take(self, kept: Kept) -> None:
        if kept.value is None:
            self._reasoning_name = kept.name
        elif isinstance(kept.value, list):
            self._members[kept.name] = [*_list(self._members.get(kept.name)), *kept.value]
        else:
            self._members[kept.name] = kept.value

    def give(self) -> SentMembers | None:
        """What was kept, which is forgotten; None if there is nothing."""
        name, members = self._reasoning_name, storable_members(self._members)
        self._reasoning_name, self._members = "", {}
        return SentMembers(name, members) if name or members else None


def storable_members(members: dict[str, Any]) -> dict[str, Any]:
    """As they can be stored; empty if they cannot."""
    if not members:
        return {}
    encoded = json.dumps(members)
    return (parse_arguments(encoded) or {}) if len(encoded) <= MAX_CHARACTERS else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
