"""Links of the cells at the top of a sheet, which openpyxl does not read from a stream."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from html import unescape
from typing import Final

from lxml import etree

_HYPERLINK: Final = re.compile(rb"<(?:\w{1,9}:)?hyperlink\s([^<>]{1,4000})>")
_ATTRIBUTE: Final = re.compile(r"""([\w:]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CELL: Final = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::.*)?", re.ASCII)
_CHUNK: Final = 1024 * 1024
_LONGEST: Final = 5_000  # length of an element
_MAX_RELATIONS_BYTES: Final = 10 * 1024 * 1024

# By row and column, from 0.
Links = dict[tuple[int, int], str]


def links_of(archive: zipfile.ZipFile, sheet: str, rows: int, columns: int) -> Links:
    """Read the links of the first `rows` and `columns` of a sheet. `sheet`: the name of its part."""
    targets = _targets(archive, sheet)
    links: Links = {}
    if not targets:
        return links
    for attributes in _hyperlinks(archive, sheet):
        relation = next((value for name, value in attributes.items() if name.endswith(":id")), "")
        place = _place(attributes.get("ref", ""))
        if place and relation in targets and place[0] < rows and place[1] < columns:
            links.setdefault(place, targets[relation])
    return links


def _targets(archive: zipfile.ZipFile, sheet: str) -> dict[str, str]:
    folder, name = posixpath.split(sheet.removeprefix("/"))
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.namelist() or archive.getinfo(relations).file_size > _MAX_RELATIONS_BYTES:
        return {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(archive.read(relations), parser)
    return {
        one.get("Id", ""): one.get("Target", "")
        for one in root
        if one.get("TargetMode") == "External" and one.get("Type", "").endswith("/hyperlink")
    }


def _hyperlinks(archive: zipfile.ZipFile, sheet: str) -> Iterator[dict[str, str]]:
    """Find the hyperlink elements without parsing the rest: they stand after all rows, of which there may be many."""
    rest = b""
    with archive.open(sheet.removeprefix("/")) as content:
        while chunk := content.read(_CHUNK):
            text = rest + chunk
            end = 0
            for found in _HYPERLINK.finditer(text):
                end = found.end()
                pairs = _ATTRIBUTE.findall(found[1].decode("utf-8", "replace"))
                yield {name: unescape(double or single) for name, double, single in pairs}
            rest = text[max(end, len(text) - _LONGEST) :]


def _place(reference: str) -> tuple[int, int] | None:
    found = _CELL.fullmatch(reference)
    if not found:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1
