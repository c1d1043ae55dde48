"""Texts as people read them: an answer as one text, a title without the marks of Markdown, excerpts of a search. Pure.

A message's `text` is the streamed text, in which the text after a round begins with `paragraph_break`. Code that shows or
passes on the text without the rounds in between uses `readable_text`, since answers of earlier versions and of other
systems lack the break, and a code block may be open;
`web/static/chat/state/answer_text.js` does the same for the page, and both pass tests/chat/transcript/passages.json.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from knowledge.texts.searched_text import WORD_START, normal_form

# The markers of lists and quotations before a fence, its own mark, and the rest of its line.
_FENCE: Final = re.compile(r"([ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*)(`{3,}|~{3,})(.*)")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r]*\n)+")


def readable_text(text: str, rounds: Iterable[tuple[int, str]]) -> str:
    """Return the text of an answer with its paragraph breaks.

    rounds: turn_number and text_before of its top-level calls, oldest first; parallel calls have equal pairs.
    """
    return join_passages(_passages(text, dict(rounds).values()))


def paragraph_break(before: str, text: str) -> str:
    """Return the line ends that are missing between a text and the paragraph that follows it."""
    blank = before[len(before.rstrip()) :] + text[: len(text) - len(text.lstrip())]
    return "\n" * (2 - blank.count("\n"))


def without_break(text: str) -> str:
    """Return the text of a passage as its model wrote it, without the line ends before it."""
    return text.lstrip("\n")


def join_passages(passages: Iterable[str]) -> str:
    """Join passages as paragraphs. Blank ones are left out, and a code block that a passage leaves open is closed."""
    joined = ""
    for passage in passages:
        if not joined:
            joined = passage if passage.strip() else ""
        elif passage.strip():
            blank = _BLANK_LINES.match(passage)
            joined = f"{close_code_block(joined.rstrip())}\n\n{passage[blank.end() if blank else 0 :]}"
    return joined


def close_code_block(text: str) -> str:
    """Close the code block that a text leaves open, which would contain all that follows."""
    opened: tuple[str, str] | None = None
    for line in text.split("\n"):
        if opened and _is_contained(opened[0]) and line.strip() and line[0] not in " \t>":
            opened = None  # it ended with its list or quotation
        fence = _FENCE.match(line)
        if fence:
            opened = _after_fence(opened, *fence.groups())
    if opened is None or _is_contained(opened[0]):
        return text
    return f"{text}\n{opened[0]}{opened[1]}"


def _passages(text: str, before: Iterable[str]) -> Iterator[str]:
    """Yield the texts before each round, and the text after the last. text: may end in any of them."""
    at = 0
    for each in before:
        if not text.startswith(each[: len(text) - at], at):
            break
        yield text[at : at + len(each)]
        at += len(each)
    yield text[at:]


def _after_fence(
    opened: tuple[str, str] | None, container: str, mark: str, rest: str
) -> tuple[str, str] | None:
    if opened is None:
        is_inline = mark[0] == "`" and "`" in rest
        return None if is_inline else (container, mark)
    return None if mark.startswith(opened[1]) and not rest.strip() else opened


def _is_contained(container: str) -> bool:
    """Return whether a fence stands in a list or a quotation, and ends with it."""
    return bool(container.strip()) or len(container) > 3


# Of a text, whatever it begins with; the rest is not read.
MAX_READ_CHARACTERS: Final = 1_000
PROVISIONAL_CHARACTERS: Final = 40
# Of headings, quotes and lists.
_BEGINNING = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+])\s+)+")
# A line that only opens or closes a block of code.
_FENCE_MARKS = re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
# Emphasis and code; not the marks of 2*3*4 and snake_case.
_PAIR = re.compile(r"(?<![\w*`~])(\*{1,3}|_{1,3}|~~|`{1,2})(?=\S)([^*`~]+?)(?<=\S)\1(?!\w)")


def without_marks(line: str) -> str:
    """Return the text of a line; empty for a line that is a mark itself."""
    line = line[:MAX_READ_CHARACTERS]
    if _FENCE_MARKS.match(line):
        return ""
    return _PAIR.sub(r"\2", _LINK.sub(r"\1", _BEGINNING.sub("", line)))


def provisional_title(question: str) -> str:
    """Shorten the question to the title of a session that no model has named. The marks of Markdown are left out."""
    begin = question.strip()[:MAX_READ_CHARACTERS]
    return shorten_title(" ".join(" ".join(map(without_marks, begin.splitlines())).split()))


def shorten_title(words: str) -> str:
    """Shorten a text to a title, at a space if the second half has one."""
    if len(words) <= PROVISIONAL_CHARACTERS:
        return words
    begin = words[: PROVISIONAL_CHARACTERS - 1]
    space = words.rfind(" ", 0, PROVISIONAL_CHARACTERS)
    return f"{begin[:space] if space >= PROVISIONAL_CHARACTERS // 2 else begin}…"


# Characters before the first word that is found, and of the whole excerpt.
_BEFORE: Final = 40
_MAX_CHARACTERS: Final = 160


def excerpt_of(text: str, words: Sequence[str]) -> str:
    """Cut the text around the first word that begins with one of `words`, else its beginning. words: in normal form."""
    text = unicodedata.normalize("NFC", text)
    forms = [character.lower() if character.isascii() else normal_form(character) for character in text]
    starts = list(accumulate(map(len, forms), initial=0))
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    found = re.search(f"{WORD_START}(?:{either})", "".join(forms))
    at = bisect_right(starts, found.start()) - 1 if found else 0
    first = max(at - _BEFORE, 0)
    excerpt = text[first : first + _MAX_CHARACTERS]
    before, after = excerpt[: at - first], excerpt[at - first :]
    if first:
        before = before.partition(" ")[2] or before
    if first + _MAX_CHARACTERS < len(text):
        after = after.rpartition(" ")[0] or after
    return " ".join((before + after).split())
