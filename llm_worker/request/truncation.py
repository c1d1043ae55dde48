"""Tool responses that are too long for what is left of a request: head and tail kept, the middle counted. Pure."""

from collections.abc import Sequence

from llm_worker.request.message import TokenCounter

# Less than this tells a model nothing; what cannot even have this much lets older messages go instead.
SHORTEST_TOKENS = 64
# Later rounds of the same turn find at least half of what is left, up to this much.
LATER_TOKENS = 16_000
# The note itself, with room for what joining three pieces may add.
NOTE_TOKENS = 32
HEAD_SHARE = 2 / 3


def token_limits(sizes: Sequence[int], room: int) -> list[int]:
    """Tokens for each response of a round, at most its size: small ones whole, the others share what is left evenly.

    room: what is left for this round and those after it; never all of it is given away.
    """
    left = room - min(LATER_TOKENS, room // 2)
    granted = list(sizes)
    smallest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    for sharing, index in zip(range(len(sizes), 0, -1), smallest_first, strict=True):
        granted[index] = min(sizes[index], max(SHORTEST_TOKENS, left // sharing))
        left -= granted[index]
    return granted


def truncate(text: str, limit: int, tokens_of: TokenCounter) -> tuple[str, int]:
    """(text of at most `limit` tokens, its tokens). The same text, limit and counts give the same bytes.

    limit: at least SHORTEST_TOKENS, or the text's own size.
    """
    size = tokens_of(text, 0)
    if size <= limit:
        return text, size
    wanted = limit - NOTE_TOKENS
    characters = len(text) * wanted // size
    while characters > 0:
        head, tail = _ends(text, characters)
        kept = tokens_of(head, 0) + tokens_of(tail, 0)
        if kept <= wanted:
            return f"{head}{_note(size - kept)}{tail}", kept + NOTE_TOKENS
        # The ends are denser than the middle. Always less, so that it comes to an end.
        characters = min(characters * wanted // kept, characters - 1)
    return _note(size).strip(), NOTE_TOKENS


def _note(tokens: int) -> str:
    return f"\n\n[… {tokens} tokens left out here …]\n\n"


def _ends(text: str, characters: int) -> tuple[str, str]:
    head = int(characters * HEAD_SHARE)
    tail = characters - head
    return text[:head], text[len(text) - tail :]
