"""Collects the members of an answer that its server wants back with it, opaque. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from llm_worker.upstream.deltas import Kept, SentMembers
from llm_worker.upstream.lenient import TEXT_MEMBERS

# A part of a content holds a list of parts with text; what is nested deeper is kept as it came.
_MAX_DEPTH: Final = 3
SIGNATURE: Final = "signature"
_OF_PIECES: Final = (*TEXT_MEMBERS, SIGNATURE, "index")


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
        name, members = self._reasoning_name, whole_members(self._members)
        self._reasoning_name, self._members = "", {}
        return SentMembers(name, members) if name or members else None


def whole_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with the pieces in their lists joined; whole members are returned equal."""
    return {
        name: _whole_parts(value) if isinstance(value, list) else value for name, value in members.items()
    }


@dataclass
class _Part:
    """A part in pieces: consecutive ones of one type and index, or all of one index, up to its signature."""

    pieces: list[Any]
    is_signed: bool = False
    id: Any = None  # not each of its pieces has it

    def continues_with(self, piece: Any) -> bool:
        before = self.pieces[-1]
        if not isinstance(before, Mapping) or not isinstance(piece, Mapping):
            return False
        is_same = (
            before.get("type") == piece.get("type")
            and _are_same(before.get("index"), piece.get("index"))
            and _are_same(self.id, _id_of(piece))
        )
        # Encrypted data is whole in each piece; without a text or an index nothing says that there is another one.
        is_piece = "data" not in {**before, **piece} and any(name in piece for name in _OF_PIECES)
        adds_nothing = not any(piece.get(name) for name in (*TEXT_MEMBERS, SIGNATURE))
        return is_same and is_piece and (adds_nothing or not self.is_signed)

    def add(self, piece: Any) -> None:
        self.pieces.append(piece)
        self.is_signed |= _is_signed(piece)
        self.id = self.id or _id_of(piece)

    def whole(self, depth: int) -> Any:
        """Join the pieces. Texts are joined; of other members the latest counts that says something."""
        if len(self.pieces) == 1 and not isinstance(self.pieces[0], Mapping):
            return self.pieces[0]
        whole: dict[str, Any] = {}
        for piece in self.pieces:
            whole |= {
                name: each for name, each in piece.items() if name not in whole or _says_something(each)
            }
        for name in TEXT_MEMBERS:
            values = [piece[name] for piece in self.pieces if piece.get(name) is not None]
            if values and all(isinstance(value, str) for value in values):
                whole[name] = "".join(values)
            elif values and all(isinstance(value, list) for value in values):
                whole[name] = _whole_parts([item for value in values for item in value], depth=depth + 1)
        return whole


def _whole_parts(pieces: Sequence[Any], *, depth: int = 0) -> list[Any]:
    """Join pieces of a list into its parts. A server that numbers parts may send their pieces in turn."""
    if depth == _MAX_DEPTH:
        return list(pieces)
    parts: list[_Part] = []
    numbered: dict[tuple[object, int], _Part] = {}
    for piece in pieces:
        number = _number(piece)
        part = numbered.get(number) if number else None
        part = part or (parts[-1] if parts else None)
        if part is None or not part.continues_with(piece):
            part = _Part([piece], _is_signed(piece), _id_of(piece))
            parts.append(part)
        else:
            part.add(piece)
        if number:
            numbered[number] = part
    return [part.whole(depth) for part in parts]


def _number(piece: Any) -> tuple[object, int] | None:
    """Return the type and the index of a piece; None if it has no index."""
    if not isinstance(piece, Mapping):
        return None
    kind, index = piece.get("type"), piece.get("index")
    return (kind, index) if isinstance(index, int) and isinstance(kind, str) else None


def _are_same(before: Any, mark: Any) -> bool:
    return before == mark or before is None or mark is None


def _is_signed(piece: Any) -> bool:
    return isinstance(piece, Mapping) and bool(piece.get(SIGNATURE))


def _id_of(piece: Any) -> Any:
    return (piece.get("id") or None) if isinstance(piece, Mapping) else None


def _says_something(value: Any) -> bool:
    # OpenRouter and LiteLLM send null, or an empty text, for a signature or an id that they have sent before.
    return value is not None and value != ""
