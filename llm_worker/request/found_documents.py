"""Shortens the documents that a tool has found to what fits, so that the response stays valid JSON. Pure.

Documents are left out from the end of the ranking; if only one remains, its text is cut at the end of a passage.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from llm_worker.request.model_message import TokenCounter

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
        shown = {**first, "contents": contents}
        return self._render(
            [shown], f"The text of document {first.get('document')} is cut. {_left_out(len(rest))}"
        )

    def _render(self, documents: Sequence[Mapping[str, Any]], note: str) -> str:
        notes = " ".join(filter(None, (self.others.get("note"), note.strip())))
        members = {"documents": documents, **self.others, **({"note": notes} if notes else {})}
        return json.dumps(members, ensure_ascii=False)


def shorten_documents(text: str, limit: int, tokens_of: TokenCounter) -> tuple[str, int] | None:
    """Return a response of at most `limit` tokens, and its tokens.

    None if the text does not hold documents, or if not even a note fits. Deterministic for the same text, limit and
    counts.
    """
    found = _read(text)
    if found is None:
        return None
    count = _most(len(found.documents), lambda kept: tokens_of(found.render(kept), 0) <= limit)
    shown = found.render(count)
    if count == 0 and found.documents:
        length = len(str(found.documents[0].get("contents", "")))
        characters = _most(length, lambda kept: tokens_of(found.render_first(kept), 0) <= limit)
        shown = found.render_first(characters) if characters else shown
    tokens = tokens_of(shown, 0)
    return (shown, tokens) if tokens <= limit else None


def _read(text: str) -> _Found | None:
    if not text.startswith(_BEGINNING):
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
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
