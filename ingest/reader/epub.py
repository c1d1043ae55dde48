"""Reads EPUB books: their chapters in reading order."""

import posixpath
import zipfile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from defusedxml import ElementTree

from ingest.reader.html import visible_text
from ingest.reader.reading_outcome import Unreadable
from ingest.reader.text import decode
from ingest.reader.zip_archive import open_checked

_CONTAINER: Final = "META-INF/container.xml"
# Chapters are HTML, and may refer to the document type of XHTML, as may the table of contents.
_WITH_DOCTYPE: Final = (".xhtml", ".html", ".htm", ".ncx", ".svg", ".opf")


def read(path: Path) -> str:
    with open_checked(path, xml_with_doctype=_WITH_DOCTYPE) as archive:
        try:
            chapters = _spine(archive)
            texts = [_chapter(archive.read(name)) for name in chapters]
        except (KeyError, ElementTree.ParseError):
            raise Unreadable("document_corrupt") from None
    return "\n\n".join(text for text in texts if text)


def _chapter(content: bytes) -> str:
    page = decode(content)
    return page.with_note(visible_text(page.text))


def _spine(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the chapters in reading order. Raises KeyError for a name that is missing in the archive."""
    container = ElementTree.fromstring(archive.read(_CONTAINER))
    package_name = next(
        element.attrib["full-path"] for element in container.iter() if _is(element, "rootfile")
    )
    package = ElementTree.fromstring(archive.read(package_name))
    folder = posixpath.dirname(package_name)
    hrefs = {
        element.attrib["id"]: posixpath.normpath(posixpath.join(folder, unquote(element.attrib["href"])))
        for element in package.iter()
        if _is(element, "item")
    }
    order = [hrefs[element.attrib["idref"]] for element in package.iter() if _is(element, "itemref")]
    # A hostile book may list one long chapter very often.
    return list(dict.fromkeys(order))


def _is(element: object, name: str) -> bool:
    return str(getattr(element, "tag", "")).rpartition("}")[2] == name
