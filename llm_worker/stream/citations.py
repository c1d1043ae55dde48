"""Citations in a streamed answer: `[1]`, `[[1]]`, `【1】` and `[1, 2]` become links to the turn's documents. Pure.

gpt-oss writes a part of a document behind the number, `【1†source】` or `【1†L3-L7】`, which is left out.
Code is left unchanged. What may be the beginning of a citation is held back until the following text decides.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from chat.transcript.citation_links import citation_link
from chat.transcript.entries import Document
from llm_worker.stream.code_spans import CodeSpans, MarkdownPart

# links: `[[1]](url)`.  plain: `[1]`.
Mode = Literal["links", "plain"]

# Longer lists of numbers in brackets are not citations.
LONGEST_MARKER: Final = 100
LONGEST_TARGET: Final = 2048
# An answer that begins with nothing but unknown numbers is held back up to this many characters, to be shown as written
# if nothing else follows. Beyond that, the numbers are removed.
LONGEST_INVISIBLE_START: Final = 2000

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
_TARGET = re.compile(rf'\([^\s()]{{0,{LONGEST_TARGET}}}(?: "[^"\n]{{0,{LONGEST_TARGET}}}")?\)')
_TARGET_BEGINS = re.compile(
    rf'(?:\([^\s()]{{0,{LONGEST_TARGET}}}(?: (?:"[^"\n]{{0,{LONGEST_TARGET}}}"?)?)?)?'
)
_BRACKETS = re.compile(r"[\[【]")
_INTERESTING = re.compile(r"\\.|\[|【", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A piece of the answer, as written and as shown. cites: documents that are cited for the first time."""

    written: str
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
        has_begun = self._unshown is None and not self._held
        if has_begun and not _BRACKETS.search(text) and self._code.is_prose(text):
            return iter((text,) if text else ())
        return self._show(self._read(self._code.feed(text)))

    def flush(self) -> Iterator[str | Document]:
        if self._is_active:
            last = [*self._read(self._code.flush()), *self._citations(is_end=True)]
            yield from self._show(last)
            if self._unshown:
                # Nothing but unknown numbers: show them rather than an empty answer.
                yield "".join(seen.written for seen in self._unshown)
        self._begin()

    def _begin(self) -> None:
        self._is_active = False
        self._has_begun = False
        self._code = CodeSpans()
        self._held = ""
        self._unshown: list[_Segment] | None = []

    def _activate(self) -> bool:
        """Decide at the first text of an inference whether it may have citations: code is followed from the start."""
        self._is_active = not self._has_begun and bool(self._documents)
        self._has_begun = True
        return self._is_active

    def _read(self, parts: Iterable[MarkdownPart]) -> Iterator[_Segment]:
        for is_code, group in groupby(parts, key=lambda part: part.is_code):
            text = "".join(part.text for part in group)
            if is_code:
                yield from self._citations(is_end=True)
                yield _Segment(text, text)
            else:
                self._held += text
                yield from self._citations(is_end=False)

    def _citations(self, *, is_end: bool) -> Iterator[_Segment]:
        """Consume `_held` up to the text that may still become a citation."""
        text, self._held = self._held, ""
        at = 0
        while found := _INTERESTING.search(text, at):
            yield _unchanged(text[at : found.start()])
            at = found.start()
            if not is_end and _may_continue(text, at):
                self._held = text[at:]
                return
            marker = _MARKER.match(text, at)
            end = marker.end() if marker else found.end()
            target = _TARGET.match(text, end) if marker else None
            yield self._cite(marker[0], target[0] if target else "") if marker else _unchanged(found[0])
            at = target.end() if target else end
        yield _unchanged(text[at:])

    def _cite(self, marker: str, target: str) -> _Segment:
        numbers = [int(number) for number in re.findall("[0-9]+", marker.partition("†")[0])]
        known = [self._documents[number] for number in numbers if number in self._documents]
        if target and not marker.startswith("[[") and len(known) < len(numbers):
            return _unchanged(marker + target)  # an ordinary link whose text is a number
        new = {document.number: document for document in known if document.number not in self.cited}
        self.cited |= new
        shown = "".join(self._marker(document) for document in known)
        return _Segment(marker + target, shown, tuple(new.values()))

    def _marker(self, document: Document) -> str:
        return citation_link(document) if self._mode == "links" else f"[{document.number}]"

    def _show(self, read: Iterable[_Segment]) -> Iterator[str | Document]:
        text = ""
        for seen in self._visible(read):
            if seen.cites:
                if text:
                    yield text
                text = ""
                yield from seen.cites
            text += seen.shown
        if text:
            yield text

    def _visible(self, read: Iterable[_Segment]) -> Iterator[_Segment]:
        """Hold everything back until there is something that a reader would see."""
        for seen in read:
            if self._unshown is None:
                yield seen
                continue
            self._unshown += [seen] if seen.written else []
            written = sum(len(each.written) for each in self._unshown)
            if seen.shown.strip() or written > LONGEST_INVISIBLE_START:
                unshown, self._unshown = self._unshown, None
                yield from unshown


def _may_continue(text: str, start: int) -> bool:
    """Return whether the rest of the text may be, or grow into, a citation."""
    if _MARKER_BEGINS.fullmatch(text, start):
        return True
    marker = _MARKER.match(text, start)
    return marker is not None and _TARGET_BEGINS.fullmatch(text, marker.end()) is not None


def _unchanged(text: str) -> _Segment:
    return _Segment(text, text)
