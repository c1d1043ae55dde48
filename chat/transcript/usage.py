"""What requests and runs use: TokenUsage, and the spending of a run beside its limits. Pure."""

from collections.abc import Callable
from typing import Final, NamedTuple

# The limit of the columns that hold counts.
MAX_TOKENS: Final = 2**31 - 1
# The help text of the field `estimated_tokens`, wherever it is described.
ESTIMATED_TOKENS_HELP: Final = "Of the prompt and completion tokens, those that the server did not report."


class TokenUsage(NamedTuple):
    """Counts; None: unknown.  estimated_tokens: tokens of the prompt and the completion that no server reported."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated_tokens: int | None = None

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        """Add two counts of each kind: at most MAX_TOKENS, unknown only if neither is known."""
        return TokenUsage(*(_sum(one, more) for one, more in zip(self, other, strict=True)))

    def completed(self, prompt_tokens: int, count_output: Callable[[], int]) -> "TokenUsage":
        """Estimate whichever of the prompt and completion tokens the server did not report, and mark them as such."""
        prompt, completion = self.prompt_tokens, self.completion_tokens
        if prompt is not None and completion is not None:
            return self
        estimated = 0
        if prompt is None:
            estimated += (prompt := min(prompt_tokens, MAX_TOKENS))
        if completion is None:
            estimated += (completion := min(count_output(), MAX_TOKENS))
        counted = self._replace(prompt_tokens=prompt, completion_tokens=completion)
        return counted._replace(estimated_tokens=min(estimated, MAX_TOKENS))


def _sum(one: int | None, more: int | None) -> int | None:
    return more if one is None else min(one + (more or 0), MAX_TOKENS)


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
