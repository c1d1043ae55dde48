"""The factor between the tokens that a model's server reports and our estimate of them. Pure.

Estimates are in the default encoding. For a model of another family they are wrong by a share that hardly depends on the
text, so it is measured: a mean over the first requests, a moving average from then on.
"""

from typing import Final, NamedTuple


class Measured(NamedTuple):
    """mean: of the ratios, reported / estimated, of so many requests."""

    mean: float
    samples: int


class TokenFactor(NamedTuple):
    """samples: the requests it was measured on."""

    factor: float
    samples: int


START: Final = TokenFactor(1.0, 0)
# Of the stored factor. A window is never used by more than 1 / 0.7 of our estimate, whatever a server reports.
BOUNDS: Final = (0.7, 3.0)
# Of one request: what is farther off is no count of this request (some servers leave out what was cached).
PLAUSIBLE: Final = (0.5, 4.0)
# From so many samples on, a request that is off by more than this factor is ignored too.
SETTLED_SAMPLES: Final = 8
FARTHEST: Final = 1.6
# In shorter requests the template around the messages outweighs the text.
FEWEST_TOKENS: Final = 500
# The weight of a new sample, once there are so many that a mean would give it less.
WEIGHT: Final = 0.05
# A smaller change is not worth a write.
SMALLEST_MOVE: Final = 0.02


def ratio_of(estimated: int, reported: int | None, current: TokenFactor) -> float | None:
    """Reported / estimated; None if the request says nothing about the factor."""
    if estimated < FEWEST_TOKENS or not reported:
        return None
    ratio = reported / estimated
    if not PLAUSIBLE[0] <= ratio <= PLAUSIBLE[1]:
        return None
    is_settled = current.samples >= SETTLED_SAMPLES
    if is_settled and not 1 / FARTHEST <= ratio / current.factor <= FARTHEST:
        return None
    return ratio


def moved(current: TokenFactor, measured: Measured) -> TokenFactor:
    """The factor after these samples: a mean at first, then a moving average, within BOUNDS."""
    # Of the new mean against what is known; 1 if nothing is.
    weight = max(
        measured.samples / (current.samples + measured.samples), 1 - (1 - WEIGHT) ** measured.samples
    )
    factor = current.factor + weight * (measured.mean - current.factor)
    return TokenFactor(min(max(factor, BOUNDS[0]), BOUNDS[1]), current.samples + measured.samples)


def is_worth_a_write(measured: Measured, current: TokenFactor) -> bool:
    """Whether the factor would move, or rests on few samples: 1, 2, 4, 8 … are written, however little changes."""
    if measured.samples >= max(1, current.samples):
        return True
    return abs(moved(current, measured).factor / current.factor - 1) > SMALLEST_MOVE
