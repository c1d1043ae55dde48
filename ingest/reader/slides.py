"""Reads presentations, in the order of their content."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from ingest.reader.archive import open_checked
from ingest.reader.tables import join_cells

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def read(path: Path) -> str:
    open_checked(path).close()
    import pptx

    slides = []
    for number, slide in enumerate(pptx.Presentation(str(path)).slides, 1):
        parts = [f"Slide {number}", *_shapes(slide.shapes)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            parts.append(slide.notes_slide.notes_text_frame.text)
        slides.append("\n".join(part for part in parts if part.strip()))
    return "\n\n".join(slides)


def _shapes(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield join_cells(cell.text for cell in row.cells)
        elif getattr(shape, "has_chart", False):
            yield from _chart(shape)
        elif shape.has_text_frame:
            yield shape.text_frame.text


def _chart(shape: Any) -> Iterator[str]:
    """Its title, and the series as rows of a table, as the chart shows them: the workbook within is not opened."""
    from pptx.oxml import parse_xml

    try:
        chart = parse_xml(shape.chart_part.blob)
    except KeyError:  # without the part
        return
    yield " ".join(element.text or "" for element in chart.iterfind(f".//{_C}title//{_A}t"))
    series = list(chart.iter(f"{_C}ser"))
    if series:
        yield join_cells(["", *_values(series[0], "cat")])
    for each in series:
        yield join_cells([" ".join(_values(each, "tx")), *_values(each, "val")])


def _values(series: Any, name: str) -> list[str]:
    return [element.text or "" for element in series.iterfind(f"{_C}{name}//{_C}v")]
