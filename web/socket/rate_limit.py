"""How many commands one socket may send: a bucket that fills again. Pure."""

from dataclasses import dataclass
from typing import Final

# A client that resumes a few hundred sessions at once stays below; a flood does not.
BURST: Final = 300
PER_SECOND: Final = 50.0
# So many refused commands before half of the bucket has filled again are a flood.
MAX_REFUSED: Final = 100


@dataclass
class Allowance:
    """now: seconds of any monotonic clock."""

    left: float = BURST
    refused: int = 0
    filled_at: float | None = None

    def take(self, now: float) -> bool:
        """Whether this command may be executed."""
        if self.filled_at is not None:
            self.left = min(BURST, self.left + (now - self.filled_at) * PER_SECOND)
        self.filled_at = now
        if self.left < 1:
            self.refused += 1
            return False
        if self.left > BURST / 2:
            self.refused = 0
        self.left -= 1
        return True

    @property
    def is_flooded(self) -> bool:
        return self.refused > MAX_REFUSED
