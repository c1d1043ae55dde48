"""Reads plain text, source code and Markdown as they are, and XML if nothing is defined in it."""

from pathlib import Path
from typing import Final

from ingest.reader.outcome import Unreadable
from ingest.reader.xml_check import check_xml

_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read(path: Path) -> str:
    return decode(path.read_bytes())


def read_xml(path: Path) -> str:
    """The source. Raises Unreadable for one that defines entities."""
    content = path.read_bytes()
    check_xml(content, allows_doctype=True, is_lenient=True)
    return decode(content)


def decode(content: bytes) -> str:
    """UTF-8, UTF-16 with a mark, or else Windows-1252, which old files have. Raises Unreadable for what is no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    if content.count(b"\x00") * 100 > len(content):
        raise Unreadable("file_type_unsupported")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
