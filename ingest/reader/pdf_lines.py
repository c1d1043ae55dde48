"""The text of a PDF page with words from right to left, in the order of writing, by the places of its characters.

This is UAX #9 backwards: https://www.unicode.org/reports/tr9/. Where several orders look the same, the one that people
write is chosen: Latin words stay together with the numbers beside them.

pdfium returns such words in the order in which the file draws them, which differs from program to program.
"""

import ctypes
import re
import unicodedata
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

import pypdfium2
from pypdfium2.raw import FS_RECTF, FPDFText_GetCharOrigin, FPDFText_GetLooseCharBox, FPDFText_GetUnicode

RTL_LETTER: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_LATIN_LETTER: Final = re.compile(r"[^\W\d_\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# The types of characters, one letter each: L, E(uropean number), A(rabic number), R, a(rabic letter), S(eparator),
# C(ommon separator), T(erminator of numbers), W(hite space); everything else is neutral.
_TYPES: Final = {
    "L": "L",
    "EN": "E",
    "AN": "A",
    "R": "R",
    "AL": "a",
    "ES": "S",
    "CS": "C",
    "ET": "T",
    "WS": "W",
}
# A run of words from left to right, with the numbers beside them, in a line from right to left.
_LTR_RUN: Final = re.compile("[LE](?:[^RaA]*[LE])?")
# A run of words from right to left in a line from left to right. A number before it belongs to it if a mark stands at
# the words: `3 ,SDROW`.
_RTL_RUN: Final = re.compile("(?:(?<![EA])[EA]+W[^LRaW]*[^LRaWEA])?[Ra](?:[^L]*[Ra])?")
_NUMBER: Final = re.compile("(?:(?<!T)T+)?E+(?:[SC]E+)*T*|A+(?:CA+)*|L+")
_MIRRORED: Final = dict(zip("()[]{}<>«»", ")(][}{><»«", strict=True))
_PAIRS: Final = ("()", "[]", "{}")
_SENTENCE_END: Final = ".,:;!?؟،؛"


def is_rtl(line: str, page_is_rtl: bool) -> bool:
    """Return whether a line was written from right to left. `line`: its characters from left to right."""
    latin, rtl = len(_LATIN_LETTER.findall(line)), len(RTL_LETTER.findall(line))
    if not latin or not rtl:
        return bool(rtl)
    ends = (line[:1] in _SENTENCE_END, line[-1:] in _SENTENCE_END)
    if ends[0] != ends[1]:
        return ends[0]
    return rtl > latin or (page_is_rtl and 4 * rtl > latin)


def logical(clusters: Sequence[str], rtl: bool) -> str:
    """Return the text of a line. `clusters`: its characters from left to right, each with its marks."""
    types = "".join(_TYPES.get(unicodedata.bidirectional(cluster[0]), "N") for cluster in clusters)
    ordered = _from_right(clusters, types) if rtl else _from_left(clusters, types)
    return _balanced("".join(ordered))


def _from_left(clusters: Sequence[str], types: str) -> list[str]:
    ordered: list[str] = []
    end = 0
    for run in _RTL_RUN.finditer(types):
        ordered += clusters[end : run.start()]
        ordered += _from_right(clusters[run.start() : run.end()], run[0])
        end = run.end()
    return [*ordered, *clusters[end:]]


def _from_right(clusters: Sequence[str], types: str) -> list[str]:
    # Rule by rule on the reversed line, in which only words from left to right and numbers still run backwards.
    types = _LTR_RUN.sub(lambda run: "L" * len(run[0]) if "L" in run[0] else run[0], types)[::-1]
    # W2: behind an Arabic letter, numbers are Arabic.
    types = re.sub("a[^RLa]*", lambda run: run[0].replace("E", "A"), types)
    ordered: list[str] = []
    backwards = clusters[::-1]
    end = 0
    for run in _NUMBER.finditer(types):
        ordered += [_MIRRORED.get(cluster, cluster) for cluster in backwards[end : run.start()]]
        ordered += backwards[run.start() : run.end()][::-1]
        end = run.end()
    return [*ordered, *(_MIRRORED.get(cluster, cluster) for cluster in backwards[end:])]


def _balanced(text: str) -> str:
    """Turn brackets that pairs need the other way: files store those that are drawn, or those that were written."""
    for pair in _PAIRS:
        places = [place for place, character in enumerate(text) if character in pair]
        if len(places) % 2 == 0 and not _is_balanced(text, pair):
            characters = list(text)
            for number, place in enumerate(places):
                characters[place] = pair[number % 2]
            text = "".join(characters)
    return text


def _is_balanced(text: str, pair: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == pair[0]) - (character == pair[1])
        if depth < 0:
            return False
    return depth == 0


# Parts of the height of a line. A wider gap is a space: where pdfium finds one; beside a letter with a mark, of which only
# the mark's place may be known; and anywhere.
_SPACE: Final = 0.12
_SPACE_AT_MARK: Final = 0.28
_WIDE: Final = 0.5
# Lines that overlap more are one: marks above letters are drawn apart.
_SAME_LINE: Final = 0.5


class _Glyph(NamedTuple):
    """A drawn character. origin: a ligature is several characters of the same origin.  word: number of pdfium's word."""

    left: float
    right: float
    text: str
    origin: tuple[float, float]
    word: int

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


class _Line:
    """The characters of a line, in no order, and the space that they take from bottom to top."""

    def __init__(self) -> None:
        self.glyphs: list[_Glyph] = []
        self.bottom, self.top = float("inf"), float("-inf")

    def add(self, glyphs: Iterable[_Glyph], bottom: float, top: float) -> None:
        self.glyphs += glyphs
        self.bottom, self.top = min(self.bottom, bottom), max(self.top, top)

    def overlaps(self, other: "_Line") -> bool:
        height = min(self.top - self.bottom, other.top - other.bottom)
        return min(self.top, other.top) - max(self.bottom, other.bottom) > _SAME_LINE * height

    def clusters(self) -> list[str]:
        """Return the characters from left to right, each with its marks, and with the spaces between the words."""
        letters = sorted(_ligatures(self.glyphs), key=attrgetter("center"))
        bases = [letter for letter in letters if not unicodedata.combining(letter.text[0])]
        texts = [base.text for base in bases]
        centers = [base.center for base in bases]
        for mark in letters:
            if unicodedata.combining(mark.text[0]) and bases:
                texts[_nearest(centers, mark.center)] += mark.text
        return _spaced(bases, texts, self.top - self.bottom)


def text_by_place(page: pypdfium2.PdfPage) -> str:
    """Return the text of a page, one line per line."""
    lines = [line.clusters() for line in _merged(_drawn_lines(page))]
    written = "".join("".join(line) for line in lines)
    page_is_rtl = 2 * len(RTL_LETTER.findall(written)) > sum(map(str.isalpha, written))
    return "\n".join(logical(line, is_rtl("".join(line), page_is_rtl)) for line in lines)


def _drawn_lines(page: pypdfium2.PdfPage) -> Iterator[_Line]:
    """Yield the lines that pdfium finds. Spaces are left out: it places them beside where they are."""
    textpage = page.get_textpage()
    left, bottom, right, top = page.get_bbox()
    box, x, y = FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    line, word = _Line(), 0
    for index in range(textpage.count_chars()):
        character = chr(FPDFText_GetUnicode(textpage, index))
        word += character.isspace()
        if character == "\n":
            yield line
            line = _Line()
        if character.isspace() or not FPDFText_GetLooseCharBox(textpage, index, box):
            continue
        if left <= box.right and box.left <= right and bottom <= box.top and box.bottom <= top:
            FPDFText_GetCharOrigin(textpage, index, x, y)
            glyph = _Glyph(box.left, box.right, character, (round(x.value, 1), round(y.value, 1)), word)
            line.add([glyph], box.bottom, box.top)
    yield line


def _merged(lines: Iterable[_Line]) -> list[_Line]:
    """Join lines that follow each other at the same height."""
    merged: list[_Line] = []
    for line in lines:
        if merged and line.glyphs and merged[-1].overlaps(line):
            merged[-1].add(line.glyphs, line.bottom, line.top)
        elif line.glyphs:
            merged.append(line)
    return merged


def _ligatures(glyphs: Iterable[_Glyph]) -> Iterator[_Glyph]:
    """Yield the characters; those of a ligature as one, in the order of writing, with marks behind the letters."""
    by_origin: defaultdict[tuple[float, float], list[_Glyph]] = defaultdict(list)
    for glyph in glyphs:
        by_origin[glyph.origin].append(glyph)
    for parts in by_origin.values():
        direction = -1 if any(RTL_LETTER.match(part.text) for part in parts) else 1
        parts.sort(key=lambda part: (unicodedata.combining(part.text) > 0, direction * part.center))
        left, right = min(part.left for part in parts), max(part.right for part in parts)
        yield _Glyph(left, right, "".join(part.text for part in parts), parts[0].origin, parts[0].word)


def _nearest(centers: list[float], center: float) -> int:
    place = bisect(centers, center)
    neighbours = range(max(place - 1, 0), min(place + 1, len(centers)))
    return min(neighbours, key=lambda index: abs(centers[index] - center))


def _spaced(bases: list[_Glyph], texts: list[str], height: float) -> list[str]:
    clusters: list[str] = []
    for index, (base, text) in enumerate(zip(bases, texts, strict=True)):
        if index and _is_space(bases[index - 1], base, height):
            clusters.append(" ")
        clusters.append(text)
    return clusters


def _is_space(before: _Glyph, after: _Glyph, height: float) -> bool:
    gap = (after.left - before.right) / height if height else 0.0
    has_marks = unicodedata.combining(before.text[-1]) or unicodedata.combining(after.text[-1])
    # pdfium moves a bracket with the space beside it.
    may_be = before.word != after.word or not (before.text[0].isalnum() and after.text[0].isalnum())
    return (may_be and gap > (_SPACE_AT_MARK if has_marks else _SPACE)) or gap > _WIDE
