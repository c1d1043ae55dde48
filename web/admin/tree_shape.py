"""The part of a session's tree that the admin displays, and the branches that are folded. Pure.

One branch is open, one page of it at a time; the branches that fork off beside its messages are folded.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

# Messages of the open branch on one page, and of all folded branches together; further branches are only linked to.
PAGE: Final = 100
FOLDED: Final = 200
# Nesting of folded branches in folded branches.
MAX_DEPTH: Final = 6


class TreeEntry(NamedTuple):
    """A message's position in the tree. cutoff: the last message that a summary covers."""

    id: UUID
    parent: UUID | None
    role: str
    latest_child: UUID | None
    cutoff: UUID | None


@dataclass
class FoldedBranch:
    """A branch beside the open one. size: the number of its messages, including those of its own branches.

    shown: the messages to display, oldest first; is_whole is False if there was no room for all.
    """

    head: UUID
    size: int
    shown: list["ShownMessage"] = field(default_factory=list)
    is_whole: bool = True


@dataclass
class ShownMessage:
    """A message to display.
    others: the branches of its siblings. summaries: the summaries of the messages up to this one.
    """

    id: UUID
    others: list[FoldedBranch] = field(default_factory=list)
    summaries: list[UUID] = field(default_factory=list)


@dataclass(frozen=True)
class TreePage:
    """A page of the open branch. shown: oldest first, starting at message number `first` (from 1) of `total`.

    earlier, later: the first messages of the pages before and after.
    """

    shown: list[ShownMessage]
    first: int
    total: int
    earlier: UUID | None
    later: UUID | None


class TreeShape:
    """The tree of one session. entries: oldest first."""

    def __init__(self, entries: Iterable[TreeEntry]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._children: dict[UUID | None, list[UUID]] = defaultdict(list)
        self._summaries: dict[UUID, list[UUID]] = defaultdict(list)
        for entry in self._entries.values():
            if entry.role == "summary":
                # A summary whose cutoff was deleted is displayed where it was written.
                self._summaries[entry.cutoff or entry.parent or entry.id].append(entry.id)
            else:
                self._children[entry.parent].append(entry.id)
        self._sizes = self._count_messages()
        self._room = FOLDED

    def page(self, at: UUID | None = None) -> TreePage:
        """Return the page that contains `at`, of the branch through `at`; by default, the end of the current branch."""
        path = self.path(at)
        index = path.index(at) if at in path else len(path) - 1
        start = max(0, index) // PAGE * PAGE
        shown = [self._message_with_others(one) for one in path[start : start + PAGE]]
        return TreePage(
            shown,
            first=start + 1,
            total=len(path),
            earlier=path[start - PAGE] if start else None,
            later=path[start + PAGE] if start + PAGE < len(path) else None,
        )

    def path(self, at: UUID | None = None) -> list[UUID]:
        """Return the branch from the first message through `at` and on along the latest children."""
        root = next(iter(self._children[None]), None)
        above = self._ancestors(at) if at in self._entries else []
        start = above[-1] if above else root
        return above + self._descend(start) if start else []

    def covered(self, summary: UUID) -> int:
        """Return how many messages a summary covers."""
        cutoff = self._entries[summary].cutoff
        return len(self._ancestors(cutoff)) if cutoff in self._entries else 0

    def _ancestors(self, at: UUID | None) -> list[UUID]:
        """Return the messages from the first one to `at`, oldest first."""
        branch: list[UUID] = []
        while at is not None and (entry := self._entries[at]).parent is not None:
            branch.append(at)
            at = entry.parent
        return branch[::-1]

    def _descend(self, above: UUID) -> list[UUID]:
        """Return the current branch below a message, oldest first."""
        branch: list[UUID] = []
        while (below := self._next(above)) is not None:
            branch.append(below)
            above = below
        return branch

    def _next(self, above: UUID) -> UUID | None:
        children = self._children.get(above)
        if not children:
            return None
        chosen = self._entries[above].latest_child
        return chosen if chosen in children else children[-1]

    def _message_with_others(self, one: UUID, depth: int = 0) -> ShownMessage:
        siblings = self._children[self._entries[one].parent]
        others = [self._fold(other, depth + 1) for other in siblings if other != one]
        return ShownMessage(one, others, self._summaries.get(one, []))

    def _fold(self, head: UUID, depth: int) -> FoldedBranch:
        """Fold a branch with as many of its messages as there is room for."""
        folded = FoldedBranch(head, self._sizes[head])
        for one in (head, *self._descend(head)):
            if self._room <= 0 or depth > MAX_DEPTH:
                folded.is_whole = False
                break
            self._room -= 1
            # The siblings of the head are already displayed on the branch it forks off from.
            alone = ShownMessage(one, [], self._summaries.get(one, []))
            folded.shown.append(alone if one == head else self._message_with_others(one, depth))
        return folded

    def _count_messages(self) -> dict[UUID, int]:
        """Return the number of messages at and below each message."""
        sizes: dict[UUID, int] = {}
        for one in reversed(self._in_order()):
            sizes[one] = 1 + sum(sizes[child] for child in self._children.get(one, ()))
        return sizes

    def _in_order(self) -> Sequence[UUID]:
        """Return all messages, parents before their children."""
        order = list(self._children[None])
        for one in order:  # grows during the iteration
            order += self._children.get(one, ())
        return order
