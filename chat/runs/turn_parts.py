"""What features do in a turn. Each registers its part in the `ready()` of its app, so every process has all parts.

A method stands here once a feature needs it.
"""

from typing import Final, Protocol

from chat.models.sql.turns import TurnState


class TurnPart(Protocol):
    """The part of a turn that belongs to one feature."""

    def after_turn(self, turn: TurnState) -> None:
        """React to the end of a turn, inside its transaction and under the lock of its session; an error undoes the end.
        Whatever reaches another process waits for the commit.
        """


_PARTS: Final[list[TurnPart]] = []


def register(part: TurnPart) -> None:
    """Add a part, behind those that are there already."""
    _PARTS.append(part)


def after_turn(turn: TurnState) -> None:
    """Let each part react to the end of a turn, in the order of registration."""
    for part in _PARTS:
        part.after_turn(turn)
