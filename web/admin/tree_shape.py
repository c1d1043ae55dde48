"""Which part of a session's tree is shown, and how it is folded. Pure: places in, places out.

One branch is open, a page of it at a time; beside each message of it, the branches that leave there are folded.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

# Messages of the open branch on one page; and of all folded branches together, the others are linked to.
PAGE: Final = 100
FOLDED: Final = 200
# Branches that leave a folded branch, and so on.
DEEPEST: Final = 6


class Place(NamedTuple):
    """A message's place in the tree. cutoff: of a summary, the last message it stands for."""

    id: UUID
    parent: UUID | None
    role: str
    latest_child: UUID | None
    cutoff: UUID | None


@dataclass
class Folded:
    """A branch that leaves the one beside it. size: all messages in it, its own branches included.

    shown: the beginning of it, or nothing; it goes on where there is no room for more.
    """

    head: UUID
    size: int
    shown: list["Shown"] = field(default_factory=list)
    is_whole: bool = True


@dataclass
class Shown:
    """others: the messages that were said instead of it.  summaries: of all that was said up to here."""

    id: UUID
    others: list[Folded] = field(default_factory=list)
    summaries: list[UUID] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """shown: oldest first, from the message number `first` (from 1) of `total`. earlier, later: where those begin."""

    shown: list[Shown]
    first: int
    total: int
    earlier: UUID | None
    later: UUID | None


class Shape:
    """places: of one session, oldest first."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = {place.id: place for place in places}
        self._children: dict[UUID | None, list[UUID]] = defaultdict(list)
        self._summaries: dict[UUID, list[UUID]] = defaultdict(list)
        for place in self._places.values():
            if place.role == "summary":
                # One whose cutoff is gone stands where it was written.
                self._summaries[place.cutoff or place.parent or place.id].append(place.id)
            else:
                self._children[place.parent].append(place.id)
        self._sizes = self._counted()
        self._room = FOLDED

    def page(self, at: UUID | None = None) -> Page:
        """Of the branch through `at`, that part of it; without, or with one that is not there, the end of the current."""
        path = self.path(at)
        index = path.index(at) if at in path else len(path) - 1
        start = max(0, index) // PAGE * PAGE
        shown = [self._shown(one) for one in path[start : start + PAGE]]
        return Page(
            shown,
            first=start + 1,
            total=len(path),
            earlier=path[start - PAGE] if start else None,
            later=path[start + PAGE] if start + PAGE < len(path) else None,
        )

    def path(self, at: UUID | None = None) -> list[UUID]:
        """From the first message through `at` to where the current branch leads from there."""
        root = next(iter(self._children[None]), None)
        above = self._upwards(at) if at in self._places else []
        begin = above[-1] if above else root
        return above + self._downwards(begin) if begin else []

    def covered(self, summary: UUID) -> int:
        """How many messages it stands for."""
        cutoff = self._places[summary].cutoff
        return len(self._upwards(cutoff)) if cutoff in self._places else 0

    def _upwards(self, at: UUID | None) -> list[UUID]:
        """To the first message, oldest first."""
        found: list[UUID] = []
        while at is not None and (place := self._places[at]).parent is not None:
            found.append(at)
            at = place.parent
        return found[::-1]

    def _downwards(self, above: UUID) -> list[UUID]:
        found: list[UUID] = []
        while (below := self._next(above)) is not None:
            found.append(below)
            above = below
        return found

    def _next(self, above: UUID) -> UUID | None:
        children = self._children.get(above)
        if not children:
            return None
        chosen = self._places[above].latest_child
        return chosen if chosen in children else children[-1]

    def _shown(self, one: UUID, depth: int = 0) -> Shown:
        siblings = self._children[self._places[one].parent]
        others = [self._folded(other, depth + 1) for other in siblings if other != one]
        return Shown(one, others, self._summaries.get(one, []))

    def _folded(self, head: UUID, depth: int) -> Folded:
        """As much of it as there is room for."""
        folded = Folded(head, self._sizes[head])
        for one in (head, *self._downwards(head)):
            if self._room <= 0 or depth > DEEPEST:
                folded.is_whole = False
                break
            self._room -= 1
            # Those beside the head stand beside it on the branch it leaves.
            alone = Shown(one, [], self._summaries.get(one, []))
            folded.shown.append(alone if one == head else self._shown(one, depth))
        return folded

    def _counted(self) -> dict[UUID, int]:
        """How many messages each branch has, its head included."""
        sizes: dict[UUID, int] = {}
        for one in reversed(self._in_order()):
            sizes[one] = 1 + sum(sizes[child] for child in self._children.get(one, ()))
        return sizes

    def _in_order(self) -> Sequence[UUID]:
        """Parents before their children."""
        order = list(self._children[None])
        for one in order:  # grows while it is read
            order += self._children.get(one, ())
        return order
