"""RTF and OpenDocument: nesting, repetition, control words without end."""

from typing import Final

from tests.ingest.documents import LAUGHS, opendocument, zipped


def _sheet(rows: int, repeated: str = "") -> bytes:
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
    row = f"<table:table-row {repeated}>{cell}</table:table-row>"
    return opendocument(
        f"<office:spreadsheet><table:table>{row * rows}</table:table></office:spreadsheet>", "spreadsheet"
    )


FILES: Final = {
    "groups.rtf": lambda _: b"{\\rtf1 " + b"{" * 5_000_000,
    "characters.rtf": lambda _: b"{\\rtf1 " + b"\\'e4" * 5_000_000,
    "picture.rtf": lambda _: b"{\\rtf1 {\\pict " + b"00" * 10_000_000 + b"}x}",
    "skipped.rtf": lambda _: b"{\\rtf1 \\uc99999999 " + b"\\u1234 " * 2_000_000,
    "links.rtf": lambda _: b"{\\rtf1 " + b'{\\field{\\*\\fldinst{HYPERLINK "' * 100_000,
    "one-word.rtf": lambda _: b"{\\rtf1 \\" + b"a" * 10_000_000,
    "rows.ods": lambda _: _sheet(2_000, 'table:number-rows-repeated="1048576"'),
    "cells.ods": lambda _: _sheet(50_000),
    "deep.odt": lambda _: opendocument("<text:section>" * 5_000 + "x" + "</text:section>" * 5_000),
    "lists.odt": lambda _: opendocument(
        "<text:list><text:list-item><text:p>x</text:p>" * 60 + "</text:list-item></text:list>" * 60
    ),
    "items.odt": lambda _: opendocument(
        "<text:list>" + "<text:list-item><text:p>x</text:p></text:list-item>" * 200_000 + "</text:list>"
    ),
    "spaces.odt": lambda _: opendocument("<text:p>" + '<text:s text:c="999999"/>' * 50_000 + "</text:p>"),
    "laughs.odt": lambda _: zipped({"content.xml": LAUGHS}),
    "encrypted-manifest.odt": lambda _: zipped({"META-INF/manifest.xml": "<m><encryption-data/></m>"}),
}
