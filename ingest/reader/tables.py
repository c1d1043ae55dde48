"""Previews of tables: their columns and first rows."""

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from ingest.reader.cell_text import Links, cell_text, links_of
from ingest.reader.office_xml import target_of_formula, with_target
from ingest.reader.reading_outcome import ReadText
from ingest.reader.text import decode
from ingest.reader.zip_archive import open_checked
from knowledge.texts.reading import Reading

MAX_ROWS: Final = 50
MAX_COLUMNS: Final = 100
MAX_SHEETS: Final = 50
MAX_CELL_CHARACTERS: Final = 500
# The first bytes of a sheet, which are searched for formulas.
_FORMULAS_WITHIN: Final = 1024 * 1024
# Rows of a sheet that are searched for the first that have a value.
_MOST_READ: Final = 10_000
_CHUNK: Final = 1024 * 1024
_LONGEST_TAG: Final = 1_000
_ROW: Final = re.compile(rb"<(?:\w{1,9}:)?row[\s>]")
_VALUE: Final = re.compile(rb"<(?:\w{1,9}:)?(?:[vf](?:\s[^<>]*)?>[^<]|is>)")
_SAMPLE: Final = 16 * 1024
# Usually fewer rows than a sample has, so that the last row, which may be cut, does not count.
_SAMPLE_ROWS: Final = 40
# Of several that fit equally well, the first is used: commas also occur in numbers and texts.
_DELIMITERS: Final = ";\t|,"
# A line for Excel that names the delimiter.
_TOLD: Final = re.compile(r"sep=([^\r\n])(?:\r\n|\r|\n|$)", re.IGNORECASE)


def read_csv(path: Path) -> ReadText:
    decoded = decode(path.read_bytes())
    text = decoded.text.removeprefix("\ufeff")
    csv.field_size_limit(len(text) + 1)
    told = _TOLD.match(text)
    begin = told.end() if told else 0
    sample = text[begin : begin + _SAMPLE]
    delimiter = told[1] if told else _delimiter(sample)
    # Quotes behind a delimiter and a blank count if as many rows agree then.
    skips_blanks = f'{delimiter} "' in sample and (
        _agreement(sample, delimiter, skips_blanks=True) >= _agreement(sample, delimiter)
    )
    source = io.StringIO(text[begin:], newline="")
    rows = csv.reader(source, delimiter=delimiter, skipinitialspace=skips_blanks)
    first: list[list[str]] = []
    columns = 0
    for row in islice(filter(None, rows), MAX_ROWS + 1):
        columns = max(columns, len(row))
        first.append(row[:MAX_COLUMNS])
    more = sum(1 for row in rows if row)
    table = join_previews([preview("Table", first, len(first) + more, columns)])
    return table._replace(notes=decoded.noted(table.text).notes)


def read_xlsx(path: Path) -> ReadText:
    open_checked(path).close()
    import openpyxl
    from openpyxl.worksheet import _read_only, _reader

    # It reads the formatting of shared texts only; the process reads this one file.
    _read_only.WorkSheetParser = partial(_reader.WorkSheetParser, rich_text=True)
    # Opened here, because openpyxl refuses a path without an extension.
    with path.open("rb") as content:
        workbook = openpyxl.load_workbook(
            content, read_only=True, data_only=True, keep_links=False, rich_text=True
        )
        sheets = workbook.worksheets
        formulas = _formulas(path, content)
        with zipfile.ZipFile(path) as archive:
            parts = [_sheet(sheet, archive, formulas.get(sheet.title)) for sheet in sheets[:MAX_SHEETS]]
        return join_previews(parts, [sheet.title for sheet in sheets[MAX_SHEETS:]])


def join_previews(tables: Sequence[ReadText], further: Sequence[str] = ()) -> ReadText:
    """Join the previews of a file. further: the names of the sheets that are not shown."""
    note = f"Further sheets, which are not shown: {', '.join(further)}" if further else ""
    text = "\n\n".join(filter(None, [*(table.text for table in tables), note]))
    shown_rows = sum(table.reading.shown_rows for table in tables)
    table_rows = sum(table.reading.table_rows for table in tables)
    return ReadText(text, reading=Reading(shown_rows=shown_rows, table_rows=table_rows))


def preview(title: str, rows: Sequence[Sequence[Any]], total: int, columns: int) -> ReadText:
    """Render the preview of a table, which says what it omits.

    rows: the first rows, beginning with the names of the columns.  total: number of all rows.
    columns: number of columns of the whole table.
    """
    if not rows:
        return ReadText(f"{title}: empty")
    shown = rows[: MAX_ROWS + 1]
    lines = [join_cells(row) for row in shown]
    is_part = total > len(shown)
    note = f", of which the first {len(shown) - 1} follow" if is_part else ""
    widest = f" (the first {MAX_COLUMNS} follow)" if columns > MAX_COLUMNS else ""
    text = "\n".join([f"{title}: {columns:,} columns{widest}, {total - 1:,} rows{note}", *lines])
    reading = Reading(shown_rows=len(shown) - 1, table_rows=total - 1) if is_part else Reading()
    return ReadText(text, reading=reading)


def join_cells(cells: Iterable[Any]) -> str:
    return " | ".join(_cell(cell) for cell in cells)


def _formulas(path: Path, content: IO[bytes]) -> dict[str, Any]:
    """Return the sheets with formulas in place of values, by title.
    Empty if no sheet has a formula within its first _FORMULAS_WITHIN bytes.
    """
    with zipfile.ZipFile(path) as archive:
        parts = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(_has_formula(archive, name) for name in parts[:MAX_SHEETS]):
            return {}
    import openpyxl

    workbook = openpyxl.load_workbook(content, read_only=True, keep_links=False)
    return {sheet.title: sheet for sheet in workbook.worksheets[:MAX_SHEETS]}


def _has_formula(archive: zipfile.ZipFile, name: str) -> bool:
    with archive.open(name) as part:
        return re.search(rb"<(?:\w{1,9}:)?f[\s>]", part.read(_FORMULAS_WITHIN)) is not None


def _rows_of(sheet: Any, *, values_only: bool) -> Iterator[Sequence[Any]]:
    """Yield the first rows. The sheet's own numbers are ignored, because it may claim every possible row."""
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = sheet.iter_rows(max_col=MAX_COLUMNS, values_only=values_only)
    return islice(rows, _MOST_READ)


def _with_formulas(rows: Iterable[Sequence[Any]], formulas: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    """Yield the rows, with formulas in cells whose value is not stored, as in files that no Office has opened yet."""
    for values, written in zip_longest(rows, formulas, fillvalue=()):
        yield [_shown(value, other) for value, other in zip_longest(values, written)]


def _shown(value: Any, formula: Any) -> Any:
    if not isinstance(formula, str) or not formula.startswith("="):
        return value
    if value is None:
        return formula
    target = target_of_formula(formula)
    return with_target(str(value), target) if target else value


def _with_links(rows: Iterable[Sequence[Any]], links: Links) -> Iterator[Sequence[Any]]:
    for number, row in enumerate(rows):
        yield [
            with_target(str(value), links[number, column])
            if value is not None and (number, column) in links
            else value
            for column, value in enumerate(row)
        ]


def _sheet(sheet: Any, archive: zipfile.ZipFile, formulas: Any = None) -> ReadText:
    columns, height = sheet.max_column, sheet.max_row
    values = (list(map(cell_text, row)) for row in _rows_of(sheet, values_only=False))
    shown = _with_formulas(values, _rows_of(formulas, values_only=True) if formulas else ())
    # A private attribute; test_links_of_cells_lead_where_they_do fails if it changes.
    part = sheet._worksheet_path.removeprefix("/")  # noqa: SLF001
    links = links_of(archive, part, _MOST_READ, MAX_COLUMNS)
    rows = list(islice(_filled(_with_links(shown, links) if links else shown), MAX_ROWS + 2))
    are_all = len(rows) < MAX_ROWS + 2 and not (isinstance(height, int) and height > _MOST_READ)
    total = len(rows) if are_all else max(len(rows), _count_rows(archive, part))
    if total and not rows:
        text = f"Sheet {sheet.title}: {total:,} rows, all below row {_MOST_READ:,}, of which none follows"
        return ReadText(text, reading=Reading(table_rows=total))
    widest = max(map(len, rows), default=0)
    # The sheet's own number counts only beyond the columns that are read, because it may claim every possible column.
    is_wider = widest == MAX_COLUMNS and isinstance(columns, int)
    return preview(f"Sheet {sheet.title}", rows, total, max(columns, widest) if is_wider else widest)


def _filled(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Yield the rows that have a value, without the empty cells at their end."""
    for row in rows:
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _count_rows(archive: zipfile.ZipFile, part: str) -> int:
    """Count the rows that have a value. The sheet's own number counts empty rows too, and may be any."""
    count, has_value, rest = 0, False, b""
    with archive.open(part) as content:
        while chunk := content.read(_CHUNK):
            text = rest + chunk
            before, *rows = _ROW.split(text)
            has_value = has_value or _VALUE.search(before) is not None
            for row in rows:
                count += has_value
                has_value = _VALUE.search(row) is not None
            # A tag that is cut is read again.
            rest = text[-_LONGEST_TAG:]
            rest = rest[rest.rfind(b"<") :] if rest.rfind(b"<") > rest.rfind(b">") else b""
    return count + has_value


def _cell(value: Any) -> str:
    text = " ".join(str("" if value is None else value).split())
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[:MAX_CELL_CHARACTERS]}…"


def _delimiter(sample: str) -> str:
    """Return the delimiter by which most rows have the same number of columns, at least two. Quotes are respected."""
    return max(_DELIMITERS, key=lambda delimiter: _agreement(sample, delimiter).share)


class _Agreement(NamedTuple):
    """The rows with the most frequent number of columns above one. share: of all rows."""

    rows: int
    share: float


def _agreement(sample: str, delimiter: str, *, skips_blanks: bool = False) -> _Agreement:
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, skipinitialspace=skips_blanks)
    counts = Counter(len(row) for row in islice(filter(None, rows), _SAMPLE_ROWS))
    most = max((counts[width] for width in counts if width > 1), default=0)
    return _Agreement(most, most / counts.total() if most else 0.0)
