"""Previews of tables: their columns and first rows."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ingest.reader.archive import open_checked
from ingest.reader.text import decode

MAX_ROWS: Final = 50
MAX_COLUMNS: Final = 100
MAX_SHEETS: Final = 50
MAX_CELL_CHARACTERS: Final = 500
_SAMPLE: Final = 16 * 1024


def read_csv(path: Path) -> str:
    text = decode(path.read_bytes())
    csv.field_size_limit(len(text) + 1)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:_SAMPLE]))
    first = list(islice((row[:MAX_COLUMNS] for row in rows if row), MAX_ROWS + 1))
    more = sum(1 for row in rows if row)
    return preview("Table", first, len(first) + more)


def read_xlsx(path: Path) -> str:
    open_checked(path).close()
    import openpyxl

    # Opened here: the path has no extension, without which openpyxl refuses it.
    with path.open("rb") as content:
        workbook = openpyxl.load_workbook(content, read_only=True, data_only=True, keep_links=False)
        return "\n\n".join(_sheet(sheet) for sheet in workbook.worksheets[:MAX_SHEETS])


def preview(title: str, rows: Sequence[Sequence[Any]], total: int | None) -> str:
    """rows: the first ones, of which the first has the names of the columns. total: of all rows; None: unknown."""
    if not rows:
        return f"{title}: empty"
    shown = rows[: MAX_ROWS + 1]
    lines = [join_cells(row) for row in shown]
    count = "" if total is None else f", {total - 1:,} rows"
    is_cut = len(rows) > MAX_ROWS if total is None else total > len(shown)
    note = f", of which the first {len(shown) - 1} follow" if is_cut else ""
    return "\n".join([f"{title}: {len(rows[0])} columns{count}{note}", *lines])


def join_cells(cells: Iterable[Any]) -> str:
    return " | ".join(_cell(cell) for cell in cells)


def _sheet(sheet: Any) -> str:
    rows = list(_filled(sheet.iter_rows(max_row=MAX_ROWS + 1, max_col=MAX_COLUMNS, values_only=True)))
    total = sheet.max_row
    return preview(
        f"Sheet {sheet.title}", rows, total if isinstance(total, int) and total >= len(rows) else None
    )


def _filled(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Rows with any value, without the empty cells at their end."""
    for row in rows:
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _cell(value: Any) -> str:
    return " ".join(str("" if value is None else value).split())[:MAX_CELL_CHARACTERS]


def _delimiter(sample: str) -> str:
    """The one that is most frequent in the first line."""
    line = sample.partition("\n")[0]
    return max(",;\t|", key=line.count)
