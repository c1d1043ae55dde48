"""Allowance: what a run may still use, shared by its loop and the loops of its agent tools. On the event loop.

Nothing awaits between asking and counting, so that the counts are exact however many calls run side by side.
Every open loop keeps one inference in reserve: when all others are used, it answers with what it has (decision 0088).
"""

from typing import Final, NamedTuple

from chat.transcript.usage import MAX_TOKENS, NOTHING_SPENT, RunLimits, RunSpending, TokenUsage

NO_LIMITS: Final = RunLimits(*[MAX_TOKENS] * len(RunLimits._fields))


class UsedUp(Exception):
    """Nothing is left of a limit; the message is a sentence for a model."""


class TokenNeed(NamedTuple):
    """The tokens that an inference is expected to take, as its server counts them.

    output: reserved for the answer.  max_output: the limit of the request; None if the server decides.
    window: the context window of the model, for prompt and output.
    """

    prompt: int
    output: int
    max_output: int | None
    window: int

    @property
    def total(self) -> int:
        return self.prompt + self.output

    @property
    def of_next(self) -> int:
        """The tokens of the next inference of the same loop, which also sends what the tools have returned."""
        return self.total + self.prompt


class Allowance:
    """What a run may still use. spent: what it has used so far, earlier attempts included."""

    def __init__(self, limits: RunLimits = NO_LIMITS, spent: RunSpending = NOTHING_SPENT) -> None:
        self.limits = limits
        self.spent = spent
        self._shares: set[LoopShare] = set()

    def open_loop(self, *, is_outermost: bool) -> "LoopShare":
        """Open a loop. Raises UsedUp if an inner loop would have no inference; the outermost loop always has one."""
        if not is_outermost and self.free_inferences <= 0:
            raise UsedUp(
                f"Not run: one answer may take at most {self.limits.inferences} steps of models, and they are used up."
            )
        share = LoopShare(self)
        self._shares.add(share)
        return share

    def take_call(self, searches: int) -> str | None:
        """Count one call of a tool. Returns why it must not run, or None. searches: the number of searches it makes."""
        limits, spent = self.limits, self.spent
        if spent.tool_calls >= limits.tool_calls:
            return (
                f"Not run: one answer may make at most {limits.tool_calls} tool calls, and they are used up."
            )
        left = limits.searches - spent.searches
        if searches > left:
            left_words = "none is" if left <= 0 else f"{left} are" if left > 1 else "1 is"
            return f"Not run: one answer may make at most {limits.searches} searches, of which {left_words} left."
        self.spent = spent._replace(tool_calls=spent.tool_calls + 1, searches=spent.searches + searches)
        return None

    def spend(self, *, inferences: int = 0, tokens: int = 0) -> None:
        """Count what a loop has used."""
        spent = self.spent
        self.spent = spent._replace(
            inferences=spent.inferences + inferences, tokens=min(spent.tokens + tokens, MAX_TOKENS)
        )

    @property
    def free_inferences(self) -> int:
        """The inferences that are left and that no open loop keeps in reserve."""
        reserved = sum(share.has_reserve for share in self._shares)
        return self.limits.inferences - self.spent.inferences - reserved

    def tokens_for(self, share: "LoopShare") -> int:
        """Return the tokens that are left and not kept for other loops."""
        kept = sum(other.kept_tokens for other in self._shares if other is not share)
        return self.limits.tokens - self.spent.tokens - kept

    def close(self, share: "LoopShare") -> None:
        self._shares.discard(share)


class LoopShare:
    """The share of one loop. kept_tokens: for its inference in progress, or for the next inference while tools run."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._need = TokenNeed(0, 0, None, 0)
        self.has_reserve = True
        self.kept_tokens = 0

    @property
    def has_one_inference(self) -> bool:
        """Whether the next inference is the last that this loop may make."""
        return self._allowance.free_inferences <= 0

    def has_tokens_for_one(self, need: TokenNeed) -> bool:
        """Return whether the tokens suffice for no inference after this one."""
        return self._allowance.tokens_for(self) < need.total + need.of_next

    def begin(self, need: TokenNeed) -> int | None:
        """Count an inference and return its output limit; None if the request's own suffices. Raises UsedUp."""
        allowance = self._allowance
        left = allowance.tokens_for(self)
        if left <= need.prompt:
            raise UsedUp("The tokens of this answer are used up.")
        if allowance.free_inferences <= 0:
            self.has_reserve = False
        allowance.spend(inferences=1)
        self._need, self.kept_tokens = need, min(left, need.total)
        most = left - need.prompt
        return most if most < (need.max_output or max(1, need.window - need.prompt)) else None

    def end(self, usage: TokenUsage) -> None:
        """Count the tokens of the inference in progress."""
        used = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        self._allowance.spend(tokens=used)
        self.kept_tokens = max(0, min(self._allowance.tokens_for(self), self._need.of_next))

    def close(self) -> None:
        self._allowance.close(self)
