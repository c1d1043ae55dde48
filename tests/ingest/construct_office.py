"""Ten files for each of Word, PowerPoint and Excel. Each holds one construct, with its words in reading order."""

import io
from collections.abc import Callable
from typing import Any, Final

import docx
import pptx
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm

from tests.ingest.construct_words import Words
from tests.ingest.documents import picture, saved

_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TEXT_BOX: Final = (
    f'<w:p {_W} xmlns:v="urn:schemas-microsoft-com:vml"><w:r><w:t>{{9}} </w:t></w:r><w:r><w:pict><v:shape><v:textbox>'
    "<w:txbxContent><w:p><w:r><w:t>{12}</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
)
_CONTROLS: Final = (
    f"<w:sdt {_W}><w:sdtContent><w:p><w:r><w:t>{{12}}</w:t></w:r></w:p></w:sdtContent></w:sdt>",
    f'<w:p {_W}><w:r><w:t xml:space="preserve">{{5}} </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>{{2}}</w:t></w:r></w:sdtContent></w:sdt></w:p>',
)
_CHANGES: Final = (
    f'<w:p {_W}><w:r><w:t xml:space="preserve">{{9}} </w:t></w:r><w:ins w:id="1" w:author="a"><w:r><w:t>{{9}}</w:t></w:r></w:ins>'
    '<w:del w:id="2" w:author="a"><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:t xml:space="preserve"> {9}</w:t></w:r></w:p>'
)


def _article(document: Any, w: Words) -> None:
    document.add_heading(w(3), 1)
    document.add_paragraph(w(60))
    paragraph = document.add_paragraph(w(5) + "\t" + w(5) + "\n" + w(5))
    paragraph.add_run(" " + w(3)).bold = True
    document.add_heading(w(4), 2)
    document.add_paragraph(w(60))


def _lists(document: Any, w: Words) -> None:
    for style in ("List Bullet", "List Bullet 2", "List Number", "Quote", "Caption"):
        document.add_paragraph(w(12), style)
    link = parse_xml(f"<w:hyperlink {_W} w:anchor='a'><w:r><w:t>{w(3)}</w:t></w:r></w:hyperlink>")
    document.add_paragraph().paragraph_format.element.append(link)


def _table(document: Any, w: Words) -> None:
    document.add_paragraph(w(9))
    _fill_table(document.add_table(9, 3), w)
    document.add_paragraph(w(9))


def _merged_table(document: Any, w: Words) -> None:
    table = document.add_table(3, 3)
    table.cell(0, 0).merge(table.cell(0, 2)).text = w(5)
    table.cell(1, 0).merge(table.cell(2, 0)).text = w(5)
    for row, column in ((1, 1), (1, 2), (2, 1)):
        table.cell(row, column).text = w(4)
    _fill_table(table.cell(2, 2).add_table(2, 2), w)


def _header_and_footer(document: Any, w: Words) -> None:
    document.sections[0].header.paragraphs[0].text = w(5)
    document.add_paragraph(w(40))
    document.sections[0].footer.paragraphs[0].text = w(5)


def _notes(document: Any, w: Words) -> None:
    document.add_paragraph(w(40))
    for kind in ("footnote", "endnote"):
        xml = f'<w:{kind}s {_W}><w:{kind} w:id="2"><w:p><w:r><w:t>{w(12)}</w:t></w:r></w:p></w:{kind}></w:{kind}s>'
        part = Part(
            PackURI(f"/word/{kind}s.xml"),
            CONTENT_TYPE.WML_FOOTNOTES.replace("footnote", kind),
            xml.encode(),
            document.part.package,
        )
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES.replace("footnote", kind))
        reference = parse_xml(f'<w:r {_W}><w:{kind}Reference w:id="2"/></w:r>')
        document.paragraphs[0].paragraph_format.element.append(reference)


def _insert(*templates: str) -> Callable[[Any, Words], None]:
    def make(document: Any, w: Words) -> None:
        document.add_paragraph(w(9))
        for template in templates:
            document.element.body.insert(-1, parse_xml(w.fill(template)))
        document.add_paragraph(w(9))

    return make


def _comments(document: Any, w: Words) -> None:
    run = document.add_paragraph().add_run(w(20))
    document.add_comment(run, w(9), author="a")


def _fill_table(table: Any, w: Words) -> None:
    for row in table.rows:
        for cell in row.cells:
            cell.text = w(4)


WORD: Final = {
    "article": _article, "lists, link": _lists, "table": _table, "merged and nested table": _merged_table,
    "header and footer": _header_and_footer, "footnote, endnote": _notes, "text box": _insert(_TEXT_BOX),
    "content controls": _insert(*_CONTROLS), "tracked changes": _insert(_CHANGES), "comment": _comments,
}  # fmt: skip


def _bullets(presentation: Any, w: Words) -> None:
    slide = _slide(presentation, 1)
    slide.shapes.title.text = w(4)
    frame = slide.placeholders[1].text_frame
    frame.text = w(8)
    for level in (1, 2, 1, 0):
        paragraph = frame.add_paragraph()
        paragraph.level, paragraph.text = level, w(8) + "\v" + w(2)


def _two_contents(presentation: Any, w: Words) -> None:
    for place, shape in enumerate(_slide(presentation, 3).placeholders):
        shape.text = w(12 if place else 4)


def _slide_table(presentation: Any, w: Words) -> None:
    _fill_table(_slide(presentation, 6).shapes.add_table(5, 3, Cm(1), Cm(1), Cm(20), Cm(9)).table, w)


def _speaker_notes(presentation: Any, w: Words) -> None:
    slide = _slide(presentation, 0)
    slide.shapes.title.text, slide.placeholders[1].text = w(4), w(6)
    slide.notes_slide.notes_text_frame.text = w(40)


def _group(presentation: Any, w: Words) -> None:
    group = _slide(presentation, 6).shapes.add_group_shape()
    for place in range(3):
        _box(group.shapes, w(6), place)
    _box(group.shapes.add_group_shape().shapes, w(6), 4)


def _boxes(presentation: Any, w: Words) -> None:
    shapes = _slide(presentation, 6).shapes
    for place in range(5):
        _box(shapes, w(8), place)


def _boxes_from_below(presentation: Any, w: Words) -> None:
    shapes = _slide(presentation, 6).shapes
    for place, text in reversed([(place, w(8)) for place in range(5)]):
        _box(shapes, text, place)


def _chart(presentation: Any, w: Words) -> None:
    slide = _slide(presentation, 5)
    slide.shapes.title.text = w(4)
    data = CategoryChartData()
    title, data.categories, series = w(3), [w(1) for _ in range(4)], w(1)
    data.add_series(series, (1, 2, 3, 4))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    chart = slide.shapes.add_chart(kind, Cm(1), Cm(4), Cm(20), Cm(9), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = title


def _alternative_text(presentation: Any, w: Words) -> None:
    slide = _slide(presentation, 5)
    slide.shapes.title.text = w(4)
    shape = slide.shapes.add_picture(io.BytesIO(picture()), Cm(1), Cm(4))
    shape.element.nvPicPr.cNvPr.set("descr", w(8))


def _five_slides(presentation: Any, w: Words) -> None:
    for _ in range(5):
        _bullets(presentation, w)


def _slide(presentation: Any, layout: int) -> Any:
    return presentation.slides.add_slide(presentation.slide_layouts[layout])


def _box(shapes: Any, text: str, place: int) -> None:
    shapes.add_textbox(Cm(1), Cm(1 + 3 * place), Cm(20), Cm(2)).text_frame.text = text


SLIDES: Final = {
    "bullets": _bullets, "two contents": _two_contents, "table": _slide_table, "notes": _speaker_notes, "groups": _group,
    "text boxes": _boxes, "text boxes added from below": _boxes_from_below, "chart": _chart,
    "alternative text": _alternative_text, "five slides": _five_slides,
}  # fmt: skip


def _rows(book: Any, w: Words, rows: int = 20, columns: int = 3) -> None:
    for _ in range(rows):
        book.active.append([w(2) for _ in range(columns)])


def _sheets(book: Any, w: Words) -> None:
    for sheet in (book.active, book.create_sheet(), book.create_sheet()):
        sheet.title = w(2)
        for _ in range(9):
            sheet.append([w(2), 4.5, w(1)])


def _merged_cells(book: Any, w: Words) -> None:
    book.active["A1"] = w(3)
    book.active.merge_cells("A1:C1")
    _rows(book, w)


def _gaps(book: Any, w: Words) -> None:
    for row in (3, 7, 20):
        book.active.cell(row, 2, w(3))
        book.active.cell(row, 9, w(3))


def _breaks(book: Any, w: Words) -> None:
    for _ in range(9):
        book.active.append([w(3) + "\n" + w(3), " " + w(2) + " "])


def _comment_of_cell(book: Any, w: Words) -> None:
    _rows(book, w)
    book.active["C20"].comment = Comment(w(9), "a")


def _rich_text(book: Any, w: Words) -> None:
    for _ in range(9):
        book.active.append([CellRichText(w(2) + " ", TextBlock(InlineFont(b=True), w(2)), " " + w(2))])


def _hidden_sheet(book: Any, w: Words) -> None:
    _rows(book, w)
    hidden = book.create_sheet("x")
    hidden.sheet_state = "hidden"
    hidden.append([w(3)])


SHEETS: Final[dict[str, Callable[[Any, Words], None]]] = {
    "rows": _rows, "three sheets": _sheets, "merged cells": _merged_cells, "gaps": _gaps, "breaks in cells": _breaks,
    "200 rows": lambda book, w: _rows(book, w, 200), "comment": _comment_of_cell, "rich text": _rich_text,
    "120 columns": lambda book, w: _rows(book, w, 3, 120), "hidden sheet": _hidden_sheet,
}  # fmt: skip


def word(name: str, words: Words) -> bytes:
    return saved_word(WORD[name], words)


def saved_word(fill: Callable[[Any, Words], None], words: Words) -> bytes:
    document = docx.Document()
    fill(document, words)
    return saved(document.save)


def slides(name: str, words: Words) -> bytes:
    presentation = pptx.Presentation()
    SLIDES[name](presentation, words)
    return saved(presentation.save)


def sheets(name: str, words: Words) -> bytes:
    book = Workbook()
    SHEETS[name](book, words)
    return saved(book.save)
