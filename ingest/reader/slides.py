"""Reads presentations, in the order of their content.

It reads the XML itself, because python-pptx skips shapes with formulas, which are in alternatives, and the numbers of
lists.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.reader.office_xml import ALTERNATIVES, CHART, CHOICE, FALLBACK, A, P, R
from ingest.reader.reading_outcome import ReadText
from ingest.reader.slide_text import text_of
from ingest.reader.tables import join_cells
from ingest.reader.unread import named_if_empty
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
        series = list(chart.iter(f"{CHART}ser"))
        if series:
            yield join_cells(["", *_values(series[0], "cat")])
        for each in series:
            yield join_cells([" ".join(_values(each, "tx")), *_values(each, "val")])


def _values(series: Any, name: str) -> list[str]:
    return [element.text or "" for element in series.iterfind(f"{CHART}{name}//{CHART}v")]
