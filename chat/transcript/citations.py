"""Citations in a streamed answer: `[1]`, `[[1]]`, `【1】` and `[1, 2]` become links to the turn's documents. Pure.

The live stream, a resumed attempt and a rebuild use the same function to write a link, so that a link that was
streamed is always found again.

gpt-oss writes a part of a document behind the number, `【1†source】` or `【1†L3-L7】`, which is left out.
Code, formulas and all else that is no citation of a known document stay as they are written.
What may be the beginning of a citation is held back until the following text decides.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, Protocol

from chat.transcript.citation_places import LONGEST_CONTEXT, CodeSpans, MarkdownPart, may_cite
from chat.transcript.entries import Document

_LINKABLE: Final = re.compile(r"https?://|/(?!/)")
_IPV6_HOST: Final = re.compile(r"https?://\[[0-9a-fA-F.]*:[0-9a-fA-F:.]*\]")
# Characters that RFC 3986 does not allow in a URI (a host in brackets aside), all white space and control characters,
# and parentheses: each may end a Markdown link, begin a code span or a table cell, or leave an HTML attribute.
# Also the semicolon of a character reference (&lt;), which Markdown would decode.
_UNSAFE: Final = re.compile(r"""[\s\x00-\x20\x7f-\x9f"<>\\^`{|}()\[\]]|(?<=&)(#?\w{1,32});""")


class Cited(Protocol):
    """A citation as a packet, a row or a document holds it."""

    @property
    def number(self) -> int: ...
    @property
    def document_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str | None: ...


def citation_link(document: Document) -> str:
    """Return `[[1]](address)`, or `[1]` for a document without an address that a browser may follow."""
    if _LINKABLE.match(document.url):
        return f"[[{document.number}]]({_escape(document.url)})"
    return f"[{document.number}]"


def citation_record(cited: Cited) -> dict[str, Any]:
    """Return a citation as clients see it: an item of a message's `citations`."""
    members = {"number": cited.number, "document_id": cited.document_id, "title": cited.title}
    return members | ({"url": cited.url} if cited.url else {})


def _escape(url: str) -> str:
    host = _IPV6_HOST.match(url)
    begin = host.end() if host else 0
    return url[:begin] + _UNSAFE.sub(_percent_encode, url[begin:])


def _percent_encode(found: re.Match[str]) -> str:
    if found[1]:
        return f"{found[1]}%3B"
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace"))


# links: `[[1]](url)`.  plain: `[1]`.
Mode = Literal["links", "plain"]

# Longer lists of numbers in brackets are not citations.
LONGEST_MARKER: Final = 100
LONGEST_TARGET: Final = 2048
# A marker in doubt is looked at again with each piece of text up to this length, then only where a formula may end.
LEAST_WAIT: Final = 250
_DECIDES = re.compile(r"[$\\\n]")

# Behind the numbers in `【1†source】`.
_PART = r"†[^】\n]{0,40}"
_COMMAS = ",\uff0c\u3001"  # the full-width one, and that between the items of a list
_LIST = rf" *[0-9]{{1,9}}(?: *[{_COMMAS}] *[0-9]{{1,9}})* *"
_NUMBERS = rf"(?=[0-9{_COMMAS} ]{{1,{LONGEST_MARKER}}}[\]】†]){_LIST}"
_MARKER = re.compile(rf"\[\[{_NUMBERS}\]\]|\[{_NUMBERS}\]|【{_NUMBERS}(?:{_PART})?】")
_MARKER_BEGINS = re.compile(
    rf"\[\[?[0-9{_COMMAS} ]{{0,{LONGEST_MARKER}}}\]?|【[0-9{_COMMAS} ]{{0,{LONGEST_MARKER}}}(?:{_PART})?"
)
# The target that models copy from earlier links: replaced, or the link would be shown twice.
_ADDRESS = r"(?:(?=[/#)])|https?://)"
_TARGET = re.compile(rf'\({_ADDRESS}[^\s()]{{0,{LONGEST_TARGET}}}(?: "[^"\n]{{0,{LONGEST_TARGET}}}")?\)')
_TARGET_BEGINS = re.compile(
    rf'\(?|\((?:h|ht|htt|https?|https?:|https?:/)|(?:\({_ADDRESS}[^\s()]{{0,{LONGEST_TARGET}}}(?: (?:"[^"\n]{{0,{LONGEST_TARGET}}}"?)?)?)?'
)
_BRACKETS = re.compile(r"[\[【]")
_INTERESTING = re.compile(r"\\.|\[|【", re.DOTALL)


class _Segment(NamedTuple):
    """A piece of the answer as it is shown. cites: documents that are cited for the first time."""

    shown: str
    cites: tuple[Document, ...] = ()


class Citations:
    """Replaces the citations of one run. flush() ends an inference, and with it open brackets and code.

    cited: the documents cited so far, by number; they are saved with the answer.
    """

    def __init__(
        self, documents: Mapping[int, Document], mode: Mode = "links", cited: Iterable[Document] = ()
    ) -> None:
        """Start a run. `documents`: by number; may grow between inferences.
        `cited`: documents that an earlier attempt announced.
        """
        self.cited = {document.number: document for document in cited}
        self._documents = documents
        self._mode = mode
        self._begin()

    def feed(self, text: str) -> Iterator[str | Document]:
        """Return the text to show, with each document before the first text that cites it."""
        if not (self._is_active or self._activate()):
            return iter((text,) if text else ())
        if not self._held and not _BRACKETS.search(text) and self._code.is_prose(text):
            self._pass_on(text)
            return iter((text,) if text else ())
        return _joined(self._read(self._code.feed(text)))

    def flush(self) -> Iterator[str | Document]:
        if self._is_active:
            yield from _joined([*self._read(self._code.flush()), *self._citations(is_end=True)])
        self._begin()

    def _begin(self) -> None:
        self._is_active = False
        self._has_begun = False
        self._code = CodeSpans()
        self._held = ""
        # The end of the text that was read, code left out.
        self._before = ""
        self._is_behind_citation = False
        self._is_in_doubt = False

    def _activate(self) -> bool:
        """Decide at the first text of an inference whether it may have citations: code is followed from the start."""
        self._is_active = not self._has_begun and bool(self._documents)
        self._has_begun = True
        return self._is_active

    def _pass_on(self, text: str) -> _Segment:
        if text:
            self._before = (self._before + text)[-LONGEST_CONTEXT:]
            self._is_behind_citation = False
        return _Segment(text)

    def _pass_over(self, code: Iterable[MarkdownPart]) -> None:
        """Note that code stands before what follows, however it was cut."""
        for part in code:
            mark = "\n" if part.text.startswith("\n") else "`"
            if not self._before.endswith(mark):
                self._pass_on(mark)

    def _waits_for_more(self, new: str) -> bool:
        """Return whether a marker that may stand in a formula is still undecided after this much more text."""
        is_long = LEAST_WAIT < len(self._held) < LONGEST_CONTEXT
        return self._is_in_doubt and is_long and not _DECIDES.search(new)

    def _read(self, parts: Iterable[MarkdownPart]) -> Iterator[_Segment]:
        for is_code, group in groupby(parts, key=lambda part: part.is_code):
            parts_of_kind = list(group)
            text = "".join(part.text for part in parts_of_kind)
            if is_code:
                yield from self._citations(is_end=True)
                self._pass_over(parts_of_kind)
                yield _Segment(text)
            else:
                self._held += text
                if not self._waits_for_more(text):
                    yield from self._citations(is_end=False)

    def _citations(self, *, is_end: bool) -> Iterator[_Segment]:
        """Consume `_held` up to the text that may still become a citation."""
        text, self._held, self._is_in_doubt = self._held, "", False
        at = 0
        while bracket := _INTERESTING.search(text, at):
            yield self._pass_on(text[at : bracket.start()])
            at = bracket.start()
            marker = _MARKER.match(text, at)
            documents = self._documents_of(marker[0]) if marker else []
            is_citation = self._is_citation(text[at:], marker, documents, is_end=is_end)
            if not is_end and (is_citation is None or _may_continue(text, at)):
                self._held, self._is_in_doubt = text[at:], is_citation is None
                return
            target = _TARGET.match(text, marker.end()) if marker else None
            end = (target or marker or bracket).end()
            segment = self._pass_on(text[at:end])
            yield self._cite(documents) if is_citation else segment
            self._is_behind_citation = bool(is_citation)
            at = end
        yield self._pass_on(text[at:])

    def _is_citation(
        self, text: str, marker: re.Match[str] | None, documents: list[Document], *, is_end: bool
    ) -> bool | None:
        """Return whether the marker of documents at the beginning of the text cites; None as may_cite()."""
        if not marker or not documents or self._is_behind_citation:
            return bool(documents)
        target = _TARGET.match(text, len(marker[0]))
        if target and citation_link(documents[0]).endswith(f"]{target[0]}"):
            return True  # the link is ours
        if target and self._before.endswith("!"):
            return False  # a picture
        begin = len(self._before)
        return may_cite(self._before + text, begin, begin + len(marker[0]), is_whole=is_end)

    def _documents_of(self, marker: str) -> list[Document]:
        """Return the documents of a marker; none if one of its numbers is unknown, as in a list of other numbers."""
        numbers = re.findall("[0-9]+", marker.partition("†")[0])
        known = [self._documents.get(int(number)) for number in numbers if number[0] != "0"]
        documents = [document for document in known if document]
        return documents if len(documents) == len(numbers) else []

    def _cite(self, documents: list[Document]) -> _Segment:
        new = {document.number: document for document in documents if document.number not in self.cited}
        self.cited |= new
        return _Segment("".join(self._marker(document) for document in documents), tuple(new.values()))

    def _marker(self, document: Document) -> str:
        return citation_link(document) if self._mode == "links" else f"[{document.number}]"


def linked_documents(text: str, documents: Iterable[Document]) -> list[Document]:
    """Return the documents that a stored text links to, each number once."""
    linked = {document.number: document for document in documents if citation_link(document) in text}
    # `[1]` alone, of a document without an address, may also be an index.
    cited = _cited_numbers(text, linked)
    return [
        document
        for document in linked.values()
        if document.number in cited or "](" in citation_link(document)
    ]


def count_from_one(text: str, documents: Iterable[Document]) -> tuple[str, list[Document]]:
    """Return a stored text and its documents as people see them: numbered from 1 in the order in which they are cited.

    Numbers go on through a chat, so that none stands for two documents in what a model reads; people read one answer.
    """
    by_number = {document.number: document for document in documents}
    order = dict.fromkeys([*_cited_numbers(text, by_number), *by_number])
    counted = {
        number: replace(by_number[number], number=place) for place, number in enumerate(order, start=1)
    }
    citations = Citations(counted)
    output = [*citations.feed(text), *citations.flush()]
    return "".join(piece for piece in output if isinstance(piece, str)), list(counted.values())


def _cited_numbers(text: str, documents: Mapping[int, Document]) -> list[int]:
    """Return the numbers of the documents that a stored text cites, in the order of their first citations."""
    citations = Citations(documents)
    for _ in (*citations.feed(text), *citations.flush()):
        pass
    return list(citations.cited)


def _joined(segments: Iterable[_Segment]) -> Iterator[str | Document]:
    """Yield the texts of the segments as few pieces, each document before the first text that cites it."""
    text = ""
    for segment in segments:
        if segment.cites:
            if text:
                yield text
            text = ""
            yield from segment.cites
        text += segment.shown
    if text:
        yield text


def _may_continue(text: str, start: int) -> bool:
    """Return whether the rest of the text may be, or grow into, a citation."""
    if _MARKER_BEGINS.fullmatch(text, start):
        return True
    marker = _MARKER.match(text, start)
    return marker is not None and _TARGET_BEGINS.fullmatch(text, marker.end()) is not None
