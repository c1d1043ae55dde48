"""Reads the text of RTF, without its control words, but with the formatting that carries meaning."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingest.reader.formatting import PLAIN, Form, scripted
from ingest.reader.reading_outcome import Unreadable

_FORMATTED: Final = re.compile(r"\\(?:super|sub|strike)(?![a-z])")
# A control word with its number, another control, a bracket, or text.
_TOKEN: Final = re.compile(r"\\([a-z]+)(-?\d*) ?|\\'..|\\.|([{}])|[^\\{}]+", re.DOTALL)
_BREAKS: Final = ("par", "line", "cell", "row")
_SCRIPTS: Final = {"super": 1, "sub": -1, "nosupersub": 0}


def read(path: Path) -> str:
    """Read the text. Raises Unreadable if the file is not RTF."""
    from striprtf.striprtf import rtf_to_text

    # RTF is ASCII: other characters are written as numbers, in code pages that the file names.
    source = path.read_bytes().decode("latin-1")
    if not source.lstrip("\ufeff\r\n\t ").startswith("{\\rtf"):
        raise Unreadable("document_corrupt")
    if _FORMATTED.search(source):
        source = "".join(_with_marks(source))
    # The library searches links line by line: with several on a line, it loses all addresses but the last, and takes
    # quadratic time.
    source = source.replace("{\\field", "\n{\\field")
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    return text.replace("|\n", "\n").strip()


def _with_marks(source: str) -> Iterator[str]:
    """Yield the source with marks around texts that are struck, above or below the line."""
    form, is_open = PLAIN, False
    outer: list[Form] = []
    for token in _TOKEN.finditer(source):
        word, number, bracket = token.groups()
        if bracket == "{":
            outer.append(form)
        elif bracket:
            form = outer.pop() if outer else PLAIN
        elif word:
            form = _changed(form, word, number)
        if is_open and (word in _BREAKS or not form.is_struck):
            yield "~~"
            is_open = False
        is_text = not word and not bracket and not token[0].isspace()
        if is_text and form.is_struck and not is_open:
            yield "~~"
            is_open = True
        yield _escaped(scripted(token[0], form.script)) if is_text and form.script else token[0]


def _changed(form: Form, word: str, number: str) -> Form:
    if word in _SCRIPTS:
        return form._replace(script=_SCRIPTS[word])
    if word == "plain":
        return PLAIN
    return form._replace(is_struck=number != "0") if word in ("strike", "striked") else form


def _escaped(text: str) -> str:
    return "".join(letter if letter < "\u0100" else f"\\u{ord(letter)}?" for letter in text)
