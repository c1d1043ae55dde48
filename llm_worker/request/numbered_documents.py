"""Renders documents for a model and assigns the numbers by which an answer cites them. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from chat.transcript.entries import Document, Passage

LEAD = "Here are some documents provided for context, they may not all be relevant:"


def render_found(documents: Sequence[Document], note: str = "") -> str:
    """Render the response of a tool: a JSON object `{"documents": […]}`, with a `note` if there is one.
    The order of keys is fixed.
    """
    listed: dict[str, Any] = {"documents": [_as_object(document) for document in documents]}
    if note:
        listed["note"] = note
    return json.dumps(listed, ensure_ascii=False)


def render_provided(documents: Sequence[Document], note: str = "") -> str:
    """Render the lead and the same JSON object, for a user message of files or a project.
    Stored blocks are compared with it.
    """
    return f"{LEAD}\n{render_found(documents, note)}"


def _as_object(document: Document) -> dict[str, Any]:
    shown: dict[str, Any] = {"document": document.number, "title": document.title}
    if document.url:
        shown["url"] = document.url
    if document.metadata:
        shown["metadata"] = dict(document.metadata)
    return shown | {"contents": document.contents}


# The id or address of a document, and the passage of it.
_Identity = tuple[str, Passage | None]


class Numbering:
    """The documents that the answer of one turn may cite, by number.

    A document keeps its number for the turn when it is found again; no two documents share a number. Each passage that
    a search finds is numbered as a document of its own, so that a citation identifies the passage.
    """

    def __init__(self, highest: int = 0, known: Iterable[Document] = ()) -> None:
        """Continue after `highest`, the highest number used on the branch.
        known: documents of the turn that already have numbers.
        """
        self.documents: dict[int, Document] = {}
        self._highest = highest
        self._number_of: dict[_Identity, int] = {}
        for document in known:
            self._know(document)

    def number(self, documents: Iterable[Document]) -> tuple[Document, ...]:
        """Return the documents in the same order with their numbers, without exact repetitions."""
        numbered = [self._know(self._numbered(document)) for document in documents]
        return tuple(each for at, each in enumerate(numbered) if each not in numbered[:at])

    def _numbered(self, document: Document) -> Document:
        number = self._number(document)
        known = self.documents.get(number)
        # Where a page has no title, its address stands for it: a search may know more.
        title = known.title if known and document.title == document.url else document.title
        return replace(document, number=number, title=title)

    def _number(self, document: Document) -> int:
        identity = _identity(document)
        return self._number_of.get(identity, self._highest + 1) if identity else self._highest + 1

    def _know(self, document: Document) -> Document:
        self._highest = max(self._highest, document.number)
        self.documents.setdefault(document.number, document)
        if identity := _identity(document):
            self._number_of.setdefault(identity, document.number)
        return document


def _identity(document: Document) -> _Identity | None:
    """Return a value equal for the same document or passage; None if it has no identity and always counts as new."""
    name = document.document_id or document.url
    return (name, document.passage) if name else None
