"""Reads the text of RTF, without its control words, but with the formatting that carries meaning."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from ingest.reader.formatting import PLAIN, Form, scripted
from ingest.reader.office_xml import whole_number
from ingest.reader.reading_outcome import Unreadable

_FORMATTED: Final = re.compile(r"\\(?:super|sub|strike)(?![a-z])")
# A control word with its number, a byte, another control, a bracket, or text.
_TOKEN: Final = re.compile(r"\\([a-z]+)(-?\d*) ?|\\'([0-9A-Fa-f]{2})|\\(.)|([{}])|[^\\{}]+", re.DOTALL)
# A character that stands for the one before, for programs that do not know that.
_REPLACEMENT: Final = re.compile(r"[\r\n]*(?:\\'..|\\[a-z]+-?\d* ?|\\.|[^\\{}])", re.DOTALL)
_MAX_REPLACEMENTS: Final = 100
_UNICODE: Final = re.compile(r"-?\d{1,5}")
# Bytes, whose code page is not known here, pass as these letters, which RTF writes as two numbers.
_BYTES: Final = 0x20000
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
    # Letters beyond U+FFFF are written as two numbers.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("|\n", "\n").strip()


class _Piece(NamedTuple):
    """A control word, bracket or text as it is written. text: empty for others.  form: behind it."""

    written: str
    word: str
    text: str
    form: Form


def _with_marks(source: str) -> Iterator[str]:
    """Yield the source with marks around texts that are struck, above or below the line."""
    is_open = False
    for (form, is_text), group in groupby(_pieces(source), key=lambda piece: (piece.form, piece.text != "")):
        for piece in [_scripted(group)] if is_text and form.script else group:
            if is_open and (piece.word in _BREAKS or not form.is_struck):
                yield "~~"
                is_open = False
            if form.is_struck and piece.text.strip() and not is_open:
                yield "~~"
                is_open = True
            yield piece.written


def _pieces(source: str) -> Iterator[_Piece]:
    r"""Yield the source in pieces. \u is one with its replacements, of which \uc is the number."""
    form, replacements, place = PLAIN, 1, 0
    outer: list[tuple[Form, int]] = []
    while token := _TOKEN.match(source, place):
        place = token.end()
        word, number, _, _, bracket = token.groups()
        if bracket == "{":
            outer.append((form, replacements))
        elif bracket:
            form, replacements = outer.pop() if outer else (PLAIN, 1)
        elif word == "uc":
            replacements = whole_number(number, _MAX_REPLACEMENTS)
        elif word == "u":
            for _ in range(replacements):
                replacement = _REPLACEMENT.match(source, place)
                place = replacement.end() if replacement else place
        elif word:
            form = _changed(form, word, number)
        yield _Piece(source[token.start() : place], word or "", _text(token), form)


def _text(token: re.Match[str]) -> str:
    """Return the text of a token; empty for a control."""
    word, number, byte, symbol, bracket = token.groups()
    if byte:
        return chr(_BYTES + int(byte, 16))
    if word == "u" and _UNICODE.fullmatch(number):
        return chr(int(number) % 0x10000)
    if symbol:
        return symbol if symbol in "\\{}" else ""
    return "" if word or bracket else token[0]


def _scripted(pieces: Iterable[_Piece]) -> _Piece:
    """Join adjacent texts above or below the line, in a group without replacements."""
    *_, last = texts = list(pieces)
    text = "".join(re.sub(r"[\r\n]", "", piece.text) for piece in texts)
    written = "".join(map(_escaped, scripted(text, last.form.script)))
    return _Piece(f"{{\\uc0 {written}}}", "", text, last.form)


def _changed(form: Form, word: str, number: str) -> Form:
    if word in _SCRIPTS:
        return form._replace(script=_SCRIPTS[word])
    if word == "plain":
        return PLAIN
    return form._replace(is_struck=number != "0") if word in ("strike", "striked") else form


def _escaped(letter: str) -> str:
    if letter >= chr(_BYTES):
        return f"\\'{ord(letter) - _BYTES:02x}"
    if letter in "\\{}":
        return f"\\{letter}"
    return letter if letter < "\u0100" else f"\\u{ord(letter)} "
