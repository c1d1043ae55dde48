"""Decodes bytes whose encoding is known: by a byte order mark, the declaration of the text, or UTF-8. Pure.

For all other bytes, the process that reads files guesses the encoding (ingest/reader/text.py).
"""

import codecs
import re
from typing import Final

_NAMES: Final = """
    ascii utf-8 utf-16 utf-16-le utf-16-be iso2022_jp shift_jis euc_jp euc_kr gb2312 gbk gb18030 big5 big5hkscs
    iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13
    iso8859-14 iso8859-15 iso8859-16 cp866 cp874 cp932 cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    koi8-r koi8-u macintosh mac-cyrillic
"""
# The encodings of https://encoding.spec.whatwg.org, as `codecs` names them. Pages use no others of Python's, and the
# time that punycode takes grows with the square of the length: 33 s for 400 KB.
_ENCODINGS: Final = frozenset(codecs.lookup(name).name for name in _NAMES.split())
# The encodings that programs use under these names, much as in browsers. A page whose declaration of UTF-16 can be read
# as ASCII is not in UTF-16.
_MEANT: Final = {
    "ascii": "utf-8", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "shift_jis": "cp932", "gb2312": "gb18030",
    "gbk": "gb18030", "euc_kr": "cp949", "big5": "big5hkscs", "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8",
}  # fmt: skip
# Names that `codecs` does not know.
_ALIASES: Final = {
    "x-sjis": "cp932", "windows-31j": "cp932", "x-euc-jp": "euc_jp", "x-gbk": "gb18030", "windows-949": "cp949", "x-x-big5": "big5hkscs",
    "windows-874": "cp874", "x-mac-cyrillic": "mac-cyrillic", "x-mac-roman": "macintosh", "unicode-1-1-utf-8": "utf-8",
}  # fmt: skip
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_XML: Final = re.compile(
    rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']\s*([a-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_META: Final = re.compile(
    rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_DECLARED_WITHIN: Final = 2_048
# A declaration or UTF-8 is accepted if at most this share of the characters beyond ASCII cannot be decoded.
_DAMAGED: Final = 0.02


def as_utf8(content: bytes, charset: str) -> bytes:
    """Convert a content to UTF-8. `charset`: as a server names it; if it is unknown, the content is returned unchanged.

    The server's charset overrides the page's own declaration: where they differ, a byte order mark is added, which
    later readers follow. A mark of the content counts more than what the server says, as in browsers.
    """
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "")
    if marked:
        return codecs.BOM_UTF8 + content.decode(marked, "replace").encode()
    encoding = encoding_named(charset)
    if not encoding:
        return content
    if encoding == "utf-8":
        says_otherwise = encoding_named(declared_charset(content)) not in ("", "utf-8")
        return codecs.BOM_UTF8 + content if says_otherwise else content
    text = content.decode(encoding, "replace").encode()
    return codecs.BOM_UTF8 + text if declared_charset(content) else text


def encoding_named(charset: str) -> str:
    """Return the codec for the name of a text encoding; empty if the name is unknown."""
    name = charset.strip().lower()
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        name = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _MEANT.get(name, name) if name in _ENCODINGS else ""


def declared_charset(content: bytes) -> str:
    """Return the encoding that HTML or XML declares at its beginning; empty if there is none, or for other content."""
    head = content[:_DECLARED_WITHIN].removeprefix(codecs.BOM_UTF8)
    if not head.lstrip().startswith(b"<"):
        return ""
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    return found[1].decode("ascii").lower() if found else ""


def decode_certain(content: bytes, charset: str = "") -> str | None:
    """Decode by a byte order mark, `charset`, the text's own declaration, or UTF-8; None if none of them fits.

    charset: the encoding that is named outside the content, as in the header of an email.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    for name in (charset, declared_charset(content), "utf-8"):
        encoding = encoding_named(name)
        text = _decode(content, encoding) if encoding else None
        if text is not None:
            return text
    return None


def is_binary(content: bytes) -> bool:
    return not content.startswith((b"\xff\xfe", b"\xfe\xff")) and content.count(b"\x00") * 100 > len(content)


def _decode(content: bytes, encoding: str) -> str | None:
    """Decode with a few errors at most (_DAMAGED); None if the content is not in this encoding."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode(encoding, "replace")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return text if text.count("\ufffd") <= _DAMAGED * beyond_ascii else None
