"""Refuses XML that defines entities or refers to other documents, before any other parser sees it."""

from typing import Any, Final
from xml.parsers import expat

from ingest.reader.reading_outcome import Unreadable

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
