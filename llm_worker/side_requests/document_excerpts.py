"""Chooses the excerpts of documents of a restricted run that a secondary model is shown. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST_EXCERPTS: Final = 24
MOST_CHARACTERS: Final = 1_200
MOST_CHARACTERS_IN_ALL: Final = 16_000
# All chunks are shown, not only search results, if they take at most this share of the free tokens of a request.
WHOLE_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk, or its beginning. id: identifies the chunk, in logs."""

    id: str
    text: str


def select_excerpts(found: Iterable[Excerpt]) -> Sequence[Excerpt]:
    """Select the most relevant excerpts within the limits, each once. found: the most relevant first."""
    selected: dict[str, Excerpt] = {}
    left = MOST_CHARACTERS_IN_ALL
    for excerpt in found:
        if len(selected) == MOST_EXCERPTS or left <= 0:
            break
        text = excerpt.text.strip()[: min(MOST_CHARACTERS, left)]
        if text and excerpt.id not in selected:
            selected[excerpt.id] = Excerpt(excerpt.id, text)
            left -= len(text)
    return tuple(selected.values())


def fits_whole(tokens: int, free_tokens: int) -> bool:
    """Return whether all chunks are shown. tokens: of all chunks.  free_tokens: of a request to the secondary model."""
    return tokens <= WHOLE_SHARE * free_tokens
