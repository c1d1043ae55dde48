"""Reads presentations, in the order of their content.

It reads the XML itself, because python-pptx skips shapes with formulas, which are in alternatives, and the numbers of
lists.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from ingest.reader.cell_text import formatted
from ingest.reader.counting import written_on_slide
from ingest.reader.formatting import PLAIN, Form, marked
from ingest.reader.office_xml import (
    ALTERNATIVES,
    CHART,
    CHOICE,
    FALLBACK,
    MATH,
    A,
    P,
    R,
    latex,
    named_if_empty,
    whole_number,
    with_target,
)
from ingest.reader.reading_outcome import ReadText
from ingest.reader.tables import join_cells
from ingest.reader.zip_archive import open_checked


def read(path: Path) -> ReadText:
    open_checked(path).close()
    import pptx

    slides, roots, has_text = [], [], False
    for number, slide in enumerate(pptx.Presentation(str(path)).slides, 1):
        parts = list(_Slide(slide.part).texts(slide.element.iterfind(f"{P}cSld/{P}spTree")))
        notes = slide.notes_slide.notes_placeholder if slide.has_notes_slide else None
        if notes is not None:
            parts += _Slide(slide.notes_slide.part).texts([notes.element])
        parts = [part for part in parts if part.strip()]
        has_text = has_text or bool(parts)
        roots.append(slide.element)
        slides.append("\n".join([f"Slide {number}", *parts]))
    return named_if_empty("\n\n".join(slides) if has_text else "", roots)


class _Slide:
    def __init__(self, part: Any) -> None:
        self._part = part
        self._targets: Mapping[str, str] = {
            key: one.target_ref for key, one in part.rels.items() if one.is_external
        }

    def texts(self, elements: Iterable[Any]) -> Iterator[str]:
        """Yield the texts of shapes, also in groups. Of alternatives, only the first is read, which is the newest."""
        for element in elements:
            if element.tag == f"{P}sp":
                for body in element.iterfind(f"{P}txBody"):
                    yield text_of(body, self._targets)
            elif element.tag == f"{P}graphicFrame":
                yield from self._graphic(element)
            elif element.tag == ALTERNATIVES:
                yield from self.texts(next(element.iterchildren(CHOICE, FALLBACK), ()))
            elif element.tag in (f"{P}spTree", f"{P}grpSp"):
                yield from self.texts(element)

    def _graphic(self, frame: Any) -> Iterator[str]:
        for row in frame.iterfind(f"{A}graphic/{A}graphicData/{A}tbl/{A}tr"):
            yield join_cells(self._cell(cell) for cell in row.iterfind(f"{A}tc"))
        for chart in frame.iterfind(f"{A}graphic/{A}graphicData/{CHART}chart"):
            yield from self._chart(chart.get(f"{R}id", ""))

    def _cell(self, cell: Any) -> str:
        return "\n".join(text_of(body, self._targets) for body in cell.iterfind(f"{A}txBody"))

    def _chart(self, relation: str) -> Iterator[str]:
        """Yield the title, and the series as rows of a table, as the chart shows them; its workbook is not opened."""
        from pptx.oxml import parse_xml

        try:
            chart = parse_xml(self._part.related_part(relation).blob)
        except KeyError:  # the part is missing
            return
        yield " ".join(element.text or "" for element in chart.iterfind(f".//{CHART}title//{A}t"))
        yield from _chart_rows(chart)


_MAX_POINTS: Final = 32_000  # of a series, as in Excel
_MAX_LEVELS: Final = 8  # of categories
_MAX_SERIES: Final = 255  # of a chart, as in Excel


def _chart_rows(chart: Any) -> Iterator[str]:
    """Yield each series as a row, below one of its categories or x-values if these differ from those above."""
    dates = chart.find(f"{CHART}date1904")
    is_from_1904 = dates is not None and dates.get("val", "1") in ("1", "true")
    head: list[str] = []
    for series in islice(chart.iter(f"{CHART}ser"), _MAX_SERIES):
        name = " ".join(element.text or "" for element in series.iterfind(f"{CHART}tx//{CHART}v"))
        points = {
            kind: _points(series.find(f"{CHART}{kind}"), is_from_1904=is_from_1904)
            for kind in ("cat", "xVal", "val", "yVal", "bubbleSize")
        }
        labels = points["cat"] or points["xVal"]
        if labels and labels != head:
            head = labels
            yield join_cells(["", *head])
        yield join_cells([name, *(points["val"] or points["yVal"])])
        if points["bubbleSize"]:
            yield join_cells([f"{name} (size)".strip(), *points["bubbleSize"]])


def _points(source: Any, *, is_from_1904: bool) -> list[str]:
    """Return the points of a series at their places, with empty ones in gaps. Names of groups precede categories."""
    if source is None:
        return []
    counts = [whole_number(count.get("val"), _MAX_POINTS) for count in source.iter(f"{CHART}ptCount")]
    labels = [""] * (max(counts) if counts else min(len(list(source.iter(f"{CHART}pt"))), _MAX_POINTS))
    shared_format = source.findtext(f".//{CHART}formatCode", "")
    innermost, *outer = list(source.iter(f"{CHART}lvl"))[:_MAX_LEVELS] or [source]
    for point in innermost.iter(f"{CHART}pt"):
        place = whole_number(point.get("idx"), _MAX_POINTS)
        if place < len(labels):
            value, code = point.findtext(f"{CHART}v", ""), point.get("formatCode", shared_format)
            labels[place] = _formatted(value, code, is_from_1904=is_from_1904) if code else value
    for level in outer:
        names = {point.get("idx"): point.findtext(f"{CHART}v", "") for point in level.iter(f"{CHART}pt")}
        group = ""
        for place, label in enumerate(labels):
            group = names.get(str(place), group)
            labels[place] = f"{group} {label}".strip()
    return labels


def _formatted(value: str, code: str, *, is_from_1904: bool) -> str:
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format
    from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

    try:
        number = float(value)
        if not is_date_format(code):
            return formatted(number, code)
        epoch = MAC_EPOCH if is_from_1904 else WINDOWS_EPOCH
        return formatted(from_excel(number, epoch, timedelta=is_timedelta_format(code)), code)
    except (ValueError, OverflowError):  # an error such as #N/A, or no date
        return value


_MAX_LEVEL: Final = 8
_MAX_START: Final = 32_767


def text_of(body: Any, targets: Mapping[str, str]) -> str:
    """Return the text of a shape, one line per paragraph. `targets`: of links, by the ids of relationships."""
    numbers = _Numbers(body.find(f"{A}lstStyle"))
    lines = []
    for paragraph in body.iterfind(f"{A}p"):
        text = _paragraph(paragraph, targets)
        lines.append(numbers.label(paragraph, has_text=bool(text.strip())) + text)
    return "\n".join(lines)


def _paragraph(paragraph: Any, targets: Mapping[str, str]) -> str:
    """Return the text of a paragraph. Adjacent runs with the same target are one link."""
    texts = []
    for target, pieces in groupby(_pieces(paragraph, targets), key=lambda piece: piece[1]):
        text = marked((text, form) for text, _, form in pieces)
        texts.append(with_target(text, target) if target else text)
    return "".join(texts)


def _pieces(element: Any, targets: Mapping[str, str]) -> Iterator[tuple[str, str, Form]]:
    """Yield the texts in an element, each with the target of its link, or empty, and its form."""
    for child in element:
        tag = child.tag
        if tag in (f"{A}r", f"{A}fld"):
            link = child.find(f"{A}rPr/{A}hlinkClick")
            target = "" if link is None else targets.get(link.get(f"{R}id", ""), "")
            yield child.findtext(f"{A}t") or "", target, _form(child.find(f"{A}rPr"))
        elif tag == f"{A}br":
            yield "\n", "", PLAIN
        elif tag == f"{MATH}oMath":
            yield latex(child), "", PLAIN
        elif tag != FALLBACK:
            yield from _pieces(child, targets)


def _form(properties: Any) -> Form:
    """Return the form of a run with these properties. The baseline is a shift in thousandths of a per cent."""
    if properties is None:
        return PLAIN
    baseline = properties.get("baseline", "0").rstrip("%")
    below = baseline.startswith("-")
    script = 0 if not baseline.strip("-0.") else -1 if below else 1
    return Form(script, properties.get("strike", "noStrike") != "noStrike")


class _Numbers:
    """Counts the numbered paragraphs of a shape, which are consecutive at each level."""

    def __init__(self, styles: Any) -> None:
        """Prepare to count. `styles`: the list styles of the shape; None: it has none of its own."""
        self._styles = styles
        self._counts: dict[int, tuple[str, int]] = {}

    def label(self, paragraph: Any, *, has_text: bool) -> str:
        properties = paragraph.find(f"{A}pPr")
        level = 0 if properties is None else whole_number(properties.get("lvl"), _MAX_LEVEL)
        form, start = self._form(properties, level)
        if not has_text:
            return ""
        for deeper in [each for each in self._counts if each > level]:
            del self._counts[deeper]
        if not form:
            self._counts.pop(level, None)
            return ""
        before = self._counts.get(level)
        number = before[1] + 1 if before and before[0] == f"{form}{start}" else start
        self._counts[level] = (f"{form}{start}", number)
        return f"{written_on_slide(number, form)} "

    def _form(self, properties: Any, level: int) -> tuple[str, int]:
        """Return the type of the numbers and the first number. The type is empty if there are no numbers."""
        of_level = None if self._styles is None else self._styles.find(f"{A}lvl{level + 1}pPr")
        for level_properties in (properties, of_level):
            bullet = _first(level_properties)
            if bullet is not None:
                numbered = bullet.tag == f"{A}buAutoNum"
                start = whole_number(bullet.get("startAt", "1"), _MAX_START)
                return (bullet.get("type", "") if numbered else ""), start
        return "", 1


def _first(properties: Any) -> Any:
    """Return the element that specifies the bullets or numbers; None if there is none."""
    kinds: Iterable[str] = (f"{A}buAutoNum", f"{A}buNone", f"{A}buChar", f"{A}buBlip")
    return next((each for each in (() if properties is None else properties) if each.tag in kinds), None)
