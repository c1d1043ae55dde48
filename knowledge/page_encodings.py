"""The encodings that pages of the web are written in. Pure."""

import codecs
import re
from typing import Final

_NAMES: Final = """
    ascii utf-8 utf-16 utf-16-le utf-16-be iso2022_jp shift_jis euc_jp euc_kr gb2312 gbk gb18030 big5 big5hkscs
    iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13
    iso8859-14 iso8859-15 iso8859-16 cp866 cp874 cp932 cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    koi8-r koi8-u macintosh mac-cyrillic
"""
# Those of https://encoding.spec.whatwg.org, as `codecs` names them. Others that Python knows are none of pages, and punycode
# takes time that grows with the square of the text: 33 s of 400 KB.
_ENCODINGS: Final = frozenset(codecs.lookup(name).name for name in _NAMES.split())
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DECLARED: Final = re.compile(
    rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_DECLARED_WITHIN: Final = 2_048


def as_utf8(content: bytes, charset: str) -> bytes:
    """charset: as a server names it; of one that is not known, the content stays as it is."""
    if charset in ("", "utf-8", "utf8"):
        return content
    try:
        encoding = codecs.lookup(charset).name
        return content.decode(encoding, "replace").encode() if encoding in _ENCODINGS else content
    except (LookupError, ValueError):
        return content


def declared_charset(content: bytes) -> str:
    """What an HTML page says of itself at its beginning; empty if nothing."""
    found = _DECLARED.search(content[:_DECLARED_WITHIN])
    return found[1].decode("ascii").lower() if found else ""


def decode_text(content: bytes) -> str | None:
    """UTF-8, UTF-16 with a mark, or else Windows-1252; None for what is no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    if content.count(b"\x00") * 100 > len(content):
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
