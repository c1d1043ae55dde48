"""Reads plain text, source code and Markdown unchanged, and XML if it defines no entities.

Every reader gets its text from `decode`: bytes become text in one place, and a note says if the encoding is a guess.
"""

import re
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.parsers import expat

from ingest.reader.reading_outcome import ReadText, Unreadable
from knowledge.texts.text_encodings import decode_certain, is_binary

_BEGINNINGS: Final = (b"<", "<".encode("utf-16-le"), "<".encode("utf-16-be"))
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def looks_like_xml(head: bytes) -> bool:
    for mark in _MARKS:
        head = head.removeprefix(mark)
    return head.lstrip(b" \t\r\n\x00").startswith(b"<") or head.startswith(_BEGINNINGS)


def check_xml(content: bytes, *, allows_doctype: bool = False, is_lenient: bool = False) -> None:
    """Check that XML is safe and well-formed. Raises Unreadable.

    is_lenient: XML that is not well-formed passes, if it is parsed as HTML or not at all.
    Without handlers of elements, which would be called for each of them, expat reads 100 MB per second.
    """
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = _refuse
    if not allows_doctype:
        parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        if not is_lenient:
            raise Unreadable("document_corrupt") from None
        if b"<!ENTITY" in content.replace(b"\x00", b""):
            raise Unreadable("document_unsafe") from None


def _refuse(*_: Any) -> int:
    raise Unreadable("document_unsafe")


# The encodings that chardet distinguishes. Its others are of mainframes and DOS, and are detected wrongly.
_GUESSED: Final = """
    utf-8 cp932 euc-jp cp949 euc-kr gb18030 gb2312 gbk big5 big5hkscs cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257
    iso8859-2 iso8859-5 iso8859-7 koi8-r koi8-u cp866 mac-roman
""".split()  # noqa: SIM905  a list of one name a line is longer
_FALLBACK: Final = "cp1252"
# The sample has pieces with bytes beyond ASCII, which alone distinguish encodings; more does not change the guess.
_SAMPLE_BYTES: Final = 200_000
_PIECE_BYTES: Final = 500
_BEFORE_BYTES: Final = 50
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
# Bytes that are a whole character in each of the encodings.
_ALONE: Final = re.compile(rb"[\x00-\x2f]")
_SHOWN: Final = {
    "cp932": "Shift_JIS", "euc_jis_2004": "EUC-JP", "euc_jp": "EUC-JP", "cp949": "EUC-KR", "big5hkscs": "Big5", "iso2022_jp": "ISO-2022-JP",
}  # fmt: skip
# The escape sequences of ISO-2022-JP, which has no bytes beyond ASCII.
_ESCAPES: Final = (b"\x1b$B", b"\x1b$@")


class Decoded(NamedTuple):
    """A decoded text. guess: the name of the encoding if it was guessed, else empty."""

    text: str
    guess: str = ""

    def noted(self, text: str) -> ReadText:
        """Return a reader's text, made from `self.text`, with a note if the encoding was guessed."""
        return ReadText(text, [note(self.guess)] if self.guess and text else [])

    def with_note(self, text: str) -> str:
        """Return the text of a part of a file, with the note of `noted` above it."""
        return "\n\n".join([*self.noted(text).notes, text])


def read(path: Path) -> ReadText:
    decoded = decode(path.read_bytes())
    return decoded.noted(decoded.text)


def read_xml(path: Path) -> ReadText:
    """Read the source. Raises Unreadable if it defines entities."""
    content = path.read_bytes()
    check_xml(content, allows_doctype=True, is_lenient=True)
    decoded = decode(content)
    return decoded.noted(decoded.text)


def decode_with_note(content: bytes) -> str:
    """Decode a content, with a note above it if the encoding was guessed. Raises Unreadable for binary content."""
    decoded = decode(content)
    return decoded.with_note(decoded.text)


def decode(content: bytes, charset: str = "") -> Decoded:
    """Decode a content. `charset`: the encoding that is named outside of it. Raises Unreadable for binary content."""
    if is_binary(content):
        raise Unreadable("file_type_unsupported")
    text = decode_certain(content, charset)
    if text is None:
        encoding = _guess(content)
        return Decoded(content.decode(encoding, "replace"), encoding)
    if text.isascii() and any(escape in content for escape in _ESCAPES):
        return _escaped(content, text)
    return Decoded(text)


def note(encoding: str) -> str:
    shown = _SHOWN.get(encoding) or encoding.upper().replace("CP125", "Windows-125")
    return (
        f"[The file does not say in which encoding it is written. It was read as {shown}, which is a guess.]"
    )


def _escaped(content: bytes, text: str) -> Decoded:
    try:
        return Decoded(content.decode("iso2022_jp"), "iso2022_jp")
    except UnicodeDecodeError:
        return Decoded(text)


def _guess(content: bytes) -> str:
    import chardet

    found = chardet.detect(
        _sample(content),
        prefer_superset=True,
        compat_names=False,
        include_encodings=_GUESSED,
        no_match_encoding=_FALLBACK,
    )
    return found["encoding"] or _FALLBACK


def _sample(content: bytes) -> bytes:
    """Return the pieces with bytes beyond ASCII. Each begins and ends between two characters, in every encoding."""
    sample, place = bytearray(), 0
    while len(sample) < _SAMPLE_BYTES and (found := _BEYOND_ASCII.search(content, place)):
        begin = max(place, found.start() - _BEFORE_BYTES)
        last = _ALONE.search(content, found.start() + _PIECE_BYTES)
        place = last.end() if last else len(content)
        sample += content[begin:place]
    return bytes(sample)
