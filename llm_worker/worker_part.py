"""What a feature does in the processes that answer runs. Its part of a turn names it (chat/runs/turn_parts.py)."""

from collections.abc import Collection, Iterable, Sequence

from llm_worker.database import Database
from llm_worker.tools.tool import Part, Tool


class WorkerPart:
    """The part of a feature in one worker process. A method that a feature does not write does nothing."""

    def __init__(self, database: Database) -> None:
        """Begin with the process, on its event loop."""

    @staticmethod
    def load_tools(choices: Collection[str], user_id: int) -> Sequence[Tool]:  # noqa: ARG004
        """Load new objects of the tools that are chosen for a run of this user, beside the built-in ones.
        choices: also of other tools. Reads the database, also in processes that only measure what a run would be sent.
        """
        return ()

    async def disable_tools(self, tools: Sequence[Tool]) -> None:
        """Set `is_disabled` of those of the tools that staff have disabled. Called every second, with the tools of all
        runs in progress. Raises DatabaseError.
        """

    async def close(self) -> None:
        """End what the process has open. Its runs have ended."""


def part_of(parts: Iterable[object], kind: type[Part]) -> Part:
    """Return the part of this class."""
    return next(part for part in parts if isinstance(part, kind))
