"""Collects the members of an answer that its server wants back with it, opaque. Pure."""

from typing import Any

from llm_worker.upstream.deltas import Kept, SentMembers


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
        name, members = self._reasoning_name, self._members
        self._reasoning_name, self._members = "", {}
        return SentMembers(name, members) if name or members else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
