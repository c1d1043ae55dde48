"""Limit on the rate of commands of one socket, by a token bucket. No I/O."""

from dataclasses import dataclass
from typing import Final

# A client that resumes a few hundred sessions at once stays below the limit; a flood does not.
BURST: Final = 300
PER_SECOND: Final = 50.0
# A flood: more rejected commands than this before half of the bucket has filled again.
MAX_REJECTED: Final = 100


@dataclass
class CommandRateLimit:
    """A token bucket. now: seconds of any monotonic clock."""

    tokens: float = BURST
    rejected: int = 0
    filled_at: float | None = None

    def take(self, now: float) -> bool:
        """Take one token; return False if the command must be rejected."""
        if self.filled_at is not None:
            self.tokens = min(BURST, self.tokens + (now - self.filled_at) * PER_SECOND)
        self.filled_at = now
        if self.tokens < 1:
            self.rejected += 1
            return False
        if self.tokens > BURST / 2:
            self.rejected = 0
        self.tokens -= 1
        return True

    @property
    def is_flooded(self) -> bool:
        return self.rejected > MAX_REJECTED
