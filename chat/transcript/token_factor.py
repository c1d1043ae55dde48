"""The factor between the tokens that a model's server reports and our estimate of them. Pure.

Estimates are in the default encoding. For a model of another family they are wrong by a factor that hardly depends on
the text, so it is measured: a mean over the first requests, a moving average from then on.
"""

from typing import Final, NamedTuple


class Measured(NamedTuple):
    """The mean of the ratios reported / estimated of `samples` requests."""

    mean: float
    samples: int


class TokenFactor(NamedTuple):
    """A measured factor. samples: the number of requests that it was measured on."""

    factor: float
    samples: int


START: Final = TokenFactor(1.0, 0)
# Bounds of the stored factor. Whatever a server reports, a window never takes more than 1 / 0.7 of our estimate.
BOUNDS: Final = (0.7, 3.0)
# Bounds of the ratio of one request: a count beyond them is not of the whole request (some servers leave out cached
# tokens).
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
    """Return reported / estimated; None if the request says nothing about the factor."""
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
    """Return the factor after these samples: a mean at first, then a moving average, within BOUNDS."""
    # Of the new mean against the known factor; 1 if none is known.
    weight = max(
        measured.samples / (current.samples + measured.samples), 1 - (1 - WEIGHT) ** measured.samples
    )
    factor = current.factor + weight * (measured.mean - current.factor)
    return TokenFactor(min(max(factor, BOUNDS[0]), BOUNDS[1]), current.samples + measured.samples)


def is_worth_a_write(measured: Measured, current: TokenFactor) -> bool:
    """Return whether the factor would move, or its samples double: 1, 2, 4, 8 … are written, however little changes."""
    if measured.samples >= max(1, current.samples):
        return True
    return abs(moved(current, measured).factor / current.factor - 1) > SMALLEST_MOVE
