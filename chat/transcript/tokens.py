"""Counts tokens, in the default encoding unless a model's own is named, and estimates those of pictures."""

from fractions import Fraction
from math import ceil
from typing import Final

from chat.transcript.encodings import DEFAULT, load_encoding

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
