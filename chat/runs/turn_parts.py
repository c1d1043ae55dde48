"""What features do in a turn. Each registers its part in its `turn_part.py`, which every process imports at its start.

A method stands here once a feature needs it.
"""

from typing import Any, Final
from uuid import UUID

from chat.models import Run, Session
from chat.models.sql.turns import TurnState


class TurnPart:
    """The part of a turn that belongs to one feature. A method that a feature does not write does nothing."""

    def before_answer(self, session: Session) -> None:
        """Prepare the session of a message that will be answered, answered again, or whose answer is continued.
        Called before the turn locks anything, in no transaction or in one that stores the whole turn. Raises ApiError.
        """

    def after_run(self, run_id: UUID, turn: TurnState) -> None:
        """React to the end of a run, as after_turn(): once, and once more whenever its answer was continued."""

    def after_turn(self, turn: TurnState) -> None:
        """React to the end of a turn, inside its transaction and under the lock of its session; an error undoes the end.
        Whatever reaches another process waits for the commit.
        """

    def on_wait(self, run: Run) -> None:
        """React to a run that waits for its user from now on, as after_turn()."""

    def worker_part(self) -> Any:
        """Import and return what workers need of the feature, a subclass of WorkerPart (llm_worker/worker_part.py).
        None: they need nothing. Not called in processes that answer no runs.
        """


_PARTS: Final[list[TurnPart]] = []


def register(part: TurnPart) -> None:
    """Add a part, behind those that are there already."""
    _PARTS.append(part)


def before_answer(session: Session) -> None:
    """Let each part prepare the session, in the order of registration. Raises ApiError."""
    for part in _PARTS:
        part.before_answer(session)


def after_run(run_id: UUID, turn: TurnState) -> None:
    """Let each part react to the end of the run, in the order of registration."""
    for part in _PARTS:
        part.after_run(run_id, turn)


def after_turn(turn: TurnState) -> None:
    """Let each part react to the end of a turn, in the order of registration."""
    for part in _PARTS:
        part.after_turn(turn)


def on_wait(run: Run) -> None:
    """Let each part react to a run that waits from now on, in the order of registration."""
    for part in _PARTS:
        part.on_wait(run)


def worker_parts() -> list[Any]:
    """Return what workers need of the features, in the order of registration."""
    return [worker_part for part in _PARTS if (worker_part := part.worker_part())]
