"""Where a run waits for its user or for the program that asked; it follows from what its calls asked. Pure.

Tools of the caller are functions that the program which asked carries out itself. A run that calls them ends with these
calls pending. The program sends their outputs with its next request, whose
answer begins with the rounds so far (Turn.given_rounds).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from msgspec import Struct, convert, to_builtins

# No name of a function.
ANY: Final = "*"


class CallerFunction(Struct, frozen=True):
    """A function. parameters: the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None


class CallerTools(Struct, frozen=True):
    """The functions of a request. required: the one that the model calls first, or ANY; empty: it may answer at once."""

    functions: Sequence[CallerFunction] = ()
    required: str = ""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> Self:
        return convert(stored or {}, cls)

    @property
    def as_json(self) -> dict[str, Any] | None:
        """The value of Turn.caller_tools."""
        return to_builtins(self) if self.functions else None


# Values of chat.models.approval.
_APPROVAL: Final = "approval"
_APPROVED: Final = "approved"


@dataclass(frozen=True)
class Asked:
    """What a call asked once. id: of the Approval.  round, tab: the place of the call.  kind, decision: of the Approval.

    arguments: as the model asked for them.  is_open: the call still waits for a decision.
    """

    id: UUID
    round: int
    tab: int
    name: str
    arguments: Mapping[str, Any]
    kind: str = _APPROVAL
    decision: str = ""
    note: str = ""
    is_open: bool = False

    @property
    def is_approval(self) -> bool:
        """Whether it asked nothing but whether it may run."""
        return self.kind == _APPROVAL

    @property
    def is_approved(self) -> bool:
        return self.decision == _APPROVED


class Beside(NamedTuple):
    """A call that the run itself carries out. has_ended: it has its response."""

    round: int
    tab: int
    has_ended: bool


class Wait(NamedTuple):
    """A wait of a run, which begins once all other calls of the round have ended.

    asked: by tab, in the order of tabs.  beside: the tabs of the other calls that the run itself carries out.
    """

    round: int
    asked: Mapping[int, Asked]
    beside: frozenset[int]
    is_reached: bool

    @property
    def tabs(self) -> frozenset[int]:
        """All tabs of the round but those of calls that the caller carries out."""
        return self.beside.union(self.asked)

    @property
    def is_for_approvals(self) -> bool:
        """Whether all its calls need nothing but an approval."""
        return all(asked.is_approval for asked in self.asked.values())

    @property
    def is_open(self) -> bool:
        """Whether the run still waits for a decision."""
        return any(asked.is_open for asked in self.asked.values())


def find_waits(asked: Iterable[Asked], calls: Iterable[Beside]) -> list[Wait]:
    """Return the waits of a run, oldest first.

    asked: in the order in which it was.  calls: all that the run itself carries out, of rounds in which one has asked.
    """
    by_round: dict[int, dict[int, bool]] = {}
    for call in calls:
        by_round.setdefault(call.round, {})[call.tab] = call.has_ended
    return [_wait(group, by_round.get(next(iter(group.values())).round, {})) for group in _groups(asked)]


def _groups(asked: Iterable[Asked]) -> Iterator[dict[int, Asked]]:
    """Yield what was asked before each wait, by tab. A call asks again only after the run has waited for it."""
    group: dict[int, Asked] = {}
    number = 0
    for call in asked:
        if group and (call.round != number or call.tab in group):
            yield group
            group = {}
        number, group[call.tab] = call.round, call
    if group:
        yield group


def _wait(group: Mapping[int, Asked], calls: Mapping[int, bool]) -> Wait:
    beside = {tab: has_ended for tab, has_ended in calls.items() if tab not in group}
    by_tab = {tab: group[tab] for tab in sorted(group)}
    return Wait(next(iter(group.values())).round, by_tab, frozenset(beside), all(beside.values()))
