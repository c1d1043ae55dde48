"""Truncates long tool responses: head and tail are kept, and a note states how many tokens are missing. Pure.

Documents that a tool has found are left out from the end of the ranking instead, so that the response stays valid JSON; if
only one remains, its text is cut at the end of a passage.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import storable
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


_BEGINNING: Final = '{"documents":'
# Where a text may be cut, the best place first: after a paragraph, a line, a sentence, a word.
_SENTENCE: Final = r"[.!?\u3002\uff01\uff1f]['\"\u201d)]*\s|[\u3002\uff01\uff1f]"
_ENDS: Final = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", _SENTENCE, r"\s"))
# A better place to cut is used only if it leaves at least this share of the text.
_KEPT_SHARE: Final = 0.5


class _Found(NamedTuple):
    """The documents as the response shows them, the best first. others: further members of the response."""

    documents: Sequence[Mapping[str, Any]]
    others: Mapping[str, Any]

    def render(self, count: int) -> str:
        """Render the response with the first `count` documents and a note of how many are left out."""
        missing = len(self.documents) - count
        return self._render(self.documents[:count], _left_out(missing) if missing else "")

    def render_first(self, characters: int) -> str:
        """Render the response with the first `characters` characters of the first document alone."""
        [first, *rest] = self.documents
        contents = _beginning(str(first.get("contents", "")), characters)
        shortened = {**first, "contents": contents}
        return self._render(
            [shortened], f"The text of document {first.get('document')} is cut. {_left_out(len(rest))}"
        )

    def _render(self, documents: Sequence[Mapping[str, Any]], note: str) -> str:
        own = self.others.get("note") or ""
        notes = " ".join(filter(None, (own if isinstance(own, str) else json.dumps(own), note.strip())))
        members = {"documents": documents, **self.others, **({"note": notes} if notes else {})}
        return json.dumps(members, ensure_ascii=False)


def shorten_documents(text: str, limit: int, tokens_of: TokenCounter) -> tuple[str, int] | None:
    """Return a response of at most `limit` tokens, and its tokens.

    None if the text does not hold documents, or if not even a note fits. Deterministic for the same text, limit and
    counts.
    """
    response = _read(text)
    if response is None:
        return None
    count = _most(len(response.documents), lambda number: tokens_of(response.render(number), 0) <= limit)
    rendered = response.render(count)
    if count == 0 and response.documents:
        length = len(str(response.documents[0].get("contents", "")))
        characters = _most(length, lambda number: tokens_of(response.render_first(number), 0) <= limit)
        rendered = response.render_first(characters) if characters else rendered
    tokens = tokens_of(rendered, 0)
    return (rendered, tokens) if tokens <= limit else None


def _read(text: str) -> _Found | None:
    if not text.startswith(_BEGINNING):
        return None
    try:
        # Escapes may hide lone surrogates, which no request can have.
        read = storable(json.loads(text))
    except (ValueError, RecursionError, ApiError):
        return None
    documents = read.pop("documents")
    is_list = isinstance(documents, list) and all(isinstance(each, dict) for each in documents)
    return _Found(documents, read) if is_list else None


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to `most` that fits; 0 if none does.
    Every number below one that fits must fit as well.
    """
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _beginning(text: str, characters: int) -> str:
    """Cut the text to at most `characters` characters, at the end of a passage if there is one near."""
    if len(text) <= characters:
        return text
    cut = text[:characters]
    for end in _ENDS:
        places = [match.end() for match in end.finditer(cut) if match.end() >= characters * _KEPT_SHARE]
        if places:
            return cut[: places[-1]].rstrip()
    return cut


def _left_out(count: int) -> str:
    if not count:
        return ""
    documents = "1 more document was" if count == 1 else f"{count} more documents were"
    return f"{documents} found and left out: there is no room."
