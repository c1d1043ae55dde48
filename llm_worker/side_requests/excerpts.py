"""Chooses what a secondary model is shown of the documents of a restricted run. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST_EXCERPTS: Final = 24
MOST_CHARACTERS: Final = 1_200
MOST_CHARACTERS_IN_ALL: Final = 16_000
# All chunks are shown, not only those that a search finds, if they take at most this share of what a request leaves free.
WHOLE_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk, or its beginning. id: of the chunk, for logs."""

    id: str
    text: str


def select_excerpts(found: Iterable[Excerpt]) -> Sequence[Excerpt]:
    """The most relevant ones within the limits, each once. found: the most relevant first."""
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
    """Whether all chunks are shown. tokens: of all of them.  free_tokens: of a request to the model that is asked."""
    return tokens <= WHOLE_SHARE * free_tokens
