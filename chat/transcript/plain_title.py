"""Makes titles of texts: without the marks of Markdown, since titles are shown as they are. Pure."""

import re
from typing import Final

# Of a text, whatever it begins with; the rest is not read.
MAX_READ_CHARACTERS: Final = 1_000
PROVISIONAL_CHARACTERS: Final = 40
# Of headings, quotes and lists.
_BEGINNING = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+])\s+)+")
# A line that only opens or closes a block of code.
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
# Emphasis and code; not the marks of 2*3*4 and snake_case.
_PAIR = re.compile(r"(?<![\w*`~])(\*{1,3}|_{1,3}|~~|`{1,2})(?=\S)([^*`~]+?)(?<=\S)\1(?!\w)")


def without_marks(line: str) -> str:
    """Return the text of a line; empty for a line that is a mark itself."""
    line = line[:MAX_READ_CHARACTERS]
    if _FENCE.match(line):
        return ""
    return _PAIR.sub(r"\2", _LINK.sub(r"\1", _BEGINNING.sub("", line)))


def provisional_title(question: str) -> str:
    """Shorten the question to the title of a session that no model has named, at a space if its second half has one.
    The marks of Markdown are left out.
    """
    begin = question.strip()[:MAX_READ_CHARACTERS]
    words = " ".join(" ".join(map(without_marks, begin.splitlines())).split())
    if len(words) <= PROVISIONAL_CHARACTERS:
        return words
    begin = words[: PROVISIONAL_CHARACTERS - 1]
    space = words.rfind(" ", 0, PROVISIONAL_CHARACTERS)
    return f"{begin[:space] if space >= PROVISIONAL_CHARACTERS // 2 else begin}…"
