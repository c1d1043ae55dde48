"""RunSpending and RunLimits: the use of a run and its limits, agent tools and all attempts included. Pure."""

from typing import Final, NamedTuple


class RunSpending(NamedTuple):
    """The use of a run. searches: queries; a call may have several.  tokens: prompt and completion, all inferences."""

    inferences: int = 0
    tool_calls: int = 0
    searches: int = 0
    tokens: int = 0


NOTHING_SPENT: Final = RunSpending()


class RunLimits(NamedTuple):
    """The most that one run may use; characters: of its answer, and of the reasoning before it."""

    inferences: int
    tool_calls: int
    searches: int
    tokens: int
    characters: int

    def allow_more(self, spent: RunSpending, characters: int) -> bool:
        """Return whether a run that has used and written so much may have another inference."""
        return (
            spent.inferences < self.inferences and spent.tokens < self.tokens and characters < self.characters
        )
