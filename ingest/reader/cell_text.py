"""The links of cells, and their text as Excel shows it: leading zeros, prefixes, units, per cent, dates, forms of its words.

openpyxl does not read links from a stream. No digits are rounded away, because a table is also computed with. Formats: ECMA-376, part 1, 18.8.31.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from html import unescape
from math import isfinite
from typing import Any, Final, NamedTuple

from lxml import etree

from ingest.reader.formatting import PLAIN, Form, marked

_HYPERLINK: Final = re.compile(rb"<(?:\w{1,9}:)?hyperlink\s([^<>]{1,4000})>")
_ATTRIBUTE: Final = re.compile(r"""([\w:]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CELL: Final = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::.*)?", re.ASCII)
_CHUNK: Final = 1024 * 1024
_MAX_ELEMENT: Final = 5_000  # length of an element
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
        relation.get("Id", ""): relation.get("Target", "")
        for relation in root
        if relation.get("TargetMode") == "External" and relation.get("Type", "").endswith("/hyperlink")
    }


def _hyperlinks(archive: zipfile.ZipFile, sheet: str) -> Iterator[dict[str, str]]:
    """Find the hyperlink elements without parsing the rest: they stand after all rows, of which there may be many."""
    rest = b""
    with archive.open(sheet.removeprefix("/")) as content:
        while chunk := content.read(_CHUNK):
            text = rest + chunk
            end = 0
            for match in _HYPERLINK.finditer(text):
                end = match.end()
                pairs = _ATTRIBUTE.findall(match[1].decode("utf-8", "replace"))
                yield {name: unescape(double or single) for name, double, single in pairs}
            rest = text[max(end, len(text) - _MAX_ELEMENT) :]


def _place(reference: str) -> tuple[int, int] | None:
    match = _CELL.fullmatch(reference)
    if not match:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1


_SCRIPTS: Final = {"superscript": 1, "subscript": -1}
_LONGEST: Final = 255  # characters of a format in Excel
_DIGITS: Final = 15  # of a number in Excel
_MOST_SECTIONS: Final = 4
# Literal texts, three kinds; colours and the widths of gaps, which are not written; codes; other characters.
_TOKEN: Final = re.compile(
    r'"([^"]*)"?|\\(.)|\[\$([^\]-]*)[^\]]*\]|(_.|\*.|\[[a-z]\w*\])|([0#?.,%@;])|(.)',
    re.IGNORECASE | re.DOTALL,
)
# Exponents, fractions, conditions and `General`: the value stays as it is stored.
_UNREAD: Final = re.compile(r"[A-Za-z/\[]")


class _Token(NamedTuple):
    """A part of a number format: a literal text, or a code."""

    text: str
    is_code: bool

    @property
    def is_place(self) -> bool:
        return self.is_code and self.text in "0#?"


_POINT, _COMMA, _PERCENT, _TEXT, _ZERO = (_Token(text, is_code=True) for text in ".,%@0")


def cell_text(cell: Any) -> str | None:
    """Return the text of a cell of openpyxl; None if it is empty."""
    value = cell.value
    if value is None:
        return None
    form = _form(cell.font, PLAIN)
    if isinstance(value, list):  # runs of text with fonts of their own
        return marked((str(run), _form(getattr(run, "font", None), form)) for run in value)
    return marked([(formatted(value, cell.number_format), form)])


def _form(font: Any, outer: Form) -> Form:
    if font is None:
        return outer
    return Form(_SCRIPTS.get(font.vertAlign, outer.script), bool(font.strike) or outer.is_struck)


def formatted(value: Any, number_format: str) -> str:
    """Return a value in a number format of Excel."""
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, datetime):
        shows_time = "h" in number_format.lower() or value.time() != time()
        return value.isoformat(" ", "seconds").removesuffix(":00") if shows_time else value.date().isoformat()
    if isinstance(value, time):
        return value.isoformat("seconds").removesuffix(":00")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return str(value)
    sections = _sections(number_format[:_LONGEST])
    if isinstance(value, int | float):
        return _in_sections(value, sections) if isfinite(value) else str(value)
    section = sections[-1] if len(sections) in (1, _MOST_SECTIONS) else []
    return (
        "".join(value if token == _TEXT else token.text for token in section) if _TEXT in section else value
    )


def _duration(value: timedelta) -> str:
    minutes, seconds = divmod(abs(round(value.total_seconds())), 60)
    text = f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    return f"-{text}" if value < timedelta() else text


def _sections(number_format: str) -> list[list[_Token]]:
    """Return the sections of a format: of positive numbers, negative ones, zero, texts. One is empty: it is not read."""
    sections: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(number_format):
        *literals, _, code, other = match.groups()
        if code == ";":
            sections.append([])
        elif code:
            sections[-1].append(_Token(code, is_code=True))
        elif other and _UNREAD.match(other):
            return [[]]
        else:
            text = next((each for each in (*literals, other) if each is not None), "")
            sections[-1].append(_Token(text, is_code=False))
    return sections


def _in_sections(value: float, sections: Sequence[list[_Token]]) -> str:
    """Return a number in the section of its sign."""
    number = Decimal(f"{value:.{_DIGITS}g}")
    sign, section = "-" if number < 0 else "", sections[0]
    if number < 0 and len(sections) > 1:
        sign, section = "", sections[1]
    elif not number and len(sections) > 2:
        section = sections[2]
    if _TEXT in section or not any(token.text for token in section):
        return _plain(number)
    if not any(token.is_place for token in section):
        return sign + "".join(token.text for token in section if not token.is_code)
    return sign + _number(abs(number), section)


def _plain(number: Decimal) -> str:
    return f"{number:f}" if abs(number.adjusted()) <= _DIGITS else str(number)


def _number(number: Decimal, section: list[_Token]) -> str:
    """Return a number in a section that has places."""
    point = section.index(_POINT) if _POINT in section else len(section)
    whole, fraction = section[:point], section[point + 1 :]
    places = [index for index, token in enumerate(whole) if token.is_place]
    first, last = (places[0], places[-1]) if places else (point, point)
    commas = [index for index, token in enumerate(whole) if token == _COMMA]
    # A comma behind the last place divides by a thousand, one between places groups digits.
    thousands = sum(index > last for index in commas) + fraction.count(_COMMA)
    number = number * 100 ** section.count(_PERCENT) / 1000**thousands
    digits, _, decimals = f"{number:f}".partition(".")
    decimals = decimals.rstrip("0").ljust(fraction.count(_ZERO), "0")
    is_grouped = any(first < index < last for index in commas)
    text = _filled(digits, whole, first, is_grouped) + (f".{decimals}" if decimals else "")
    behind = whole[last + 1 :] + fraction if places else fraction
    return text + "".join(token.text for token in behind if _is_written(token))


def _filled(digits: str, whole: Sequence[_Token], first: int, is_grouped: bool) -> str:
    """Put the digits into the places before the point, from the last one on. Texts behind the last place are left out."""
    remaining = list(digits.lstrip("0"))
    written: list[str] = []
    count = 0
    for index in reversed(range(len(whole))):
        token = whole[index]
        if not token.is_place:
            written += [token.text] if _is_written(token) and (count or index < first) else []
            continue
        number = max(len(remaining), 1) if index == first else 1
        for _ in range(number):
            digit = remaining.pop() if remaining else "0" if token == _ZERO or not count else ""
            written += [","] if is_grouped and digit and count and count % 3 == 0 else []
            written.append(digit)
            count += 1
    return "".join(reversed(written)) or digits


def _is_written(token: _Token) -> bool:
    return not token.is_code or token == _PERCENT
