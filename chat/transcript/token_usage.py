"""TokenUsage: the token counts that a model server reports, for one request or summed over a run. Pure."""

from typing import Final, NamedTuple

# The limit of the columns that hold counts.
MAX_TOKENS: Final = 2**31 - 1


class TokenUsage(NamedTuple):
    """None: the server reported no such count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        """The sum, at most MAX_TOKENS; unknown only if neither is known."""
        return TokenUsage(*(_sum(one, more) for one, more in zip(self, other, strict=True)))


def _sum(one: int | None, more: int | None) -> int | None:
    return more if one is None else min(one + (more or 0), MAX_TOKENS)
