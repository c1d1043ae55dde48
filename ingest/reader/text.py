"""Reads plain text, source code and Markdown as they are, and XML if nothing is defined in it."""

from pathlib import Path

from ingest.reader.outcome import Unreadable
from ingest.reader.xml_check import check_xml
from knowledge.page_encodings import decode_text


def read(path: Path) -> str:
    return decode(path.read_bytes())


def read_xml(path: Path) -> str:
    """The source. Raises Unreadable for one that defines entities."""
    content = path.read_bytes()
    check_xml(content, allows_doctype=True, is_lenient=True)
    return decode(content)


def decode(content: bytes) -> str:
    """Raises Unreadable for what is no text."""
    text = decode_text(content)
    if text is None:
        raise Unreadable("file_type_unsupported")
    return text
