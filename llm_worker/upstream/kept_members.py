"""Collects the members of an answer that its server wants back with it, opaque. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from llm_worker.upstream.deltas import Kept, SentMembers
from llm_worker.upstream.lenient import CONTENT, TEXT_MEMBERS

# A part of a content holds a list of parts with text; what is nested deeper is kept as it came.
_MAX_DEPTH: Final = 3


class KeptMembers:
    """The members of one answer. Lists that arrive in pieces are joined; of other values the latest counts."""

    def __init__(self) -> None:
        self._reasoning_name = ""
        self._members: dict[str, Any] = {}

    def take(self, kept: Kept) -> None:
        if kept.value is None:
            self._reasoning_name = kept.name
        elif isinstance(kept.value, list):
            known = self._members.get(kept.name)
            if not isinstance(known, list):
                known = self._members[kept.name] = []
            known += kept.value
        else:
            self._members[kept.name] = kept.value

    def give(self) -> SentMembers | None:
        """Return the members that were kept, and forget them; None if there are none."""
        name, members = self._reasoning_name, self._members
        self._reasoning_name, self._members = "", {}
        if CONTENT in members:
            members[CONTENT] = _whole_parts(members[CONTENT])
        return SentMembers(name, members) if name or members else None


def _whole_parts(parts: Sequence[Any], *, depth: int = 0) -> list[Any]:
    """Join consecutive parts of one type: they are pieces of one part, up to its signature."""
    if depth == _MAX_DEPTH:
        return list(parts)
    return [_whole(pieces, depth) for pieces in _pieces(parts)]


def _pieces(parts: Sequence[Any]) -> Iterator[list[Any]]:
    pieces: list[Any] = []
    for part in parts:
        if pieces and not _continues(pieces[-1], part):
            yield pieces
            pieces = []
        pieces.append(part)
    if pieces:
        yield pieces


def _continues(before: Any, part: Any) -> bool:
    if not isinstance(before, Mapping) or not isinstance(part, Mapping):
        return False
    return before.get("type") == part.get("type") and not before.get("signature")


def _whole(pieces: list[Any], depth: int) -> Any:
    """Join pieces into one part. Texts are joined; of other members the latest counts."""
    if len(pieces) == 1 and not isinstance(pieces[0], Mapping):
        return pieces[0]
    whole = {name: value for piece in pieces for name, value in piece.items()}
    for name in TEXT_MEMBERS:
        values = [piece[name] for piece in pieces if piece.get(name) is not None]
        if values and all(isinstance(value, str) for value in values):
            whole[name] = "".join(values)
        elif values and all(isinstance(value, list) for value in values):
            whole[name] = _whole_parts([item for value in values for item in value], depth=depth + 1)
    return whole
