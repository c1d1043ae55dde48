"""Truncates long tool responses: head and tail are kept, and a note states how many tokens are missing. Pure.

Documents that a tool has found are shortened by found_documents.py instead.
"""

from collections.abc import Sequence

from llm_worker.request.found_documents import shorten_documents
from llm_worker.request.model_message import TokenCounter

# Fewer tokens are useless to a model; if not even these are left, older messages are omitted instead.
SHORTEST_TOKENS = 64
# Reserved for later rounds of the same turn: half of the tokens left, at most this many.
LATER_TOKENS = 16_000
# Tokens of the note, and those that joining three pieces may add.
NOTE_TOKENS = 32
HEAD_SHARE = 2 / 3


def token_limits(sizes: Sequence[int], room: int) -> list[int]:
    """Return the token limit of each response of a round: small ones are whole, the others share the rest evenly.

    sizes: their tokens.  room: tokens left for this round and later ones; at most half of them are reserved for the
    latter.
    """
    left = room - min(LATER_TOKENS, room // 2)
    granted = list(sizes)
    smallest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    for sharing, index in zip(range(len(sizes), 0, -1), smallest_first, strict=True):
        granted[index] = min(sizes[index], max(SHORTEST_TOKENS, left // sharing))
        left -= granted[index]
    return granted


def truncate(text: str, limit: int, tokens_of: TokenCounter) -> tuple[str, int]:
    """Return the text with at most `limit` tokens, and its tokens. Deterministic for the same text, limit and counts.

    limit: at least SHORTEST_TOKENS, or the text's own size.
    """
    size = tokens_of(text, 0)
    if size <= limit:
        return text, size
    if shortened := shorten_documents(text, limit, tokens_of):
        return shortened
    wanted = limit - NOTE_TOKENS
    characters = len(text) * wanted // size
    while characters > 0:
        head, tail = _ends(text, characters)
        kept = tokens_of(head, 0) + tokens_of(tail, 0)
        if kept <= wanted:
            return f"{head}{_note(size - kept)}{tail}", kept + NOTE_TOKENS
        # The ends have more tokens per character than the middle. Strictly decreasing, so the loop terminates.
        characters = min(characters * wanted // kept, characters - 1)
    return _note(size).strip(), NOTE_TOKENS


def _note(tokens: int) -> str:
    return f"\n\n[… {tokens} tokens left out here …]\n\n"


def _ends(text: str, characters: int) -> tuple[str, str]:
    head = int(characters * HEAD_SHARE)
    tail = characters - head
    return text[:head], text[len(text) - tail :]
