"""Formatting that carries meaning is read in every format alike: scripts, struck words, numbers of lists, readings."""

# ruff: noqa: RUF001  signs and letters of other alphabets

from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.reader.cell_text import formatted
from ingest.reader.formatting import Form, marked
from ingest.reader.main_text import read_main_text
from tests.ingest import documents
from tests.ingest.documents import OPEN_DOCUMENT, opendocument
from tests.ingest.test_office_details import EXCEL, NAMES, SLIDES, WORD, extracted

pytestmark = [pytest.mark.pure, pytest.mark.slow]

# Pieces of one line, with their marks, and how the line is read: each format shows it in its own way.
PIECES = [("About 10", ""), ("6", "sup"), (" t of CO", ""), ("2", "sub"), (", ", ""), ("was 5", "del"), (" now 7", "")]  # fmt: skip
LINE = "About 10^6 t of CO₂, ~~was 5~~ now 7"
HTML_LINE = "".join(f"<{tag}>{text}</{tag}>" if tag else text for text, tag in PIECES)
RTF_LINE = rb"{\rtf1\ansi About 10{\super 6} t of CO\sub 2\nosupersub , {\strike was 5} now 7}"


def word_line() -> bytes:
    properties = {
        "sup": '<w:vertAlign w:val="superscript"/>',
        "sub": '<w:vertAlign w:val="subscript"/>',
        "del": "<w:strike/>",
    }
    runs = "".join(
        f'<w:r><w:rPr>{properties.get(mark, "")}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
        for text, mark in PIECES
    )
    body = f"<w:document {NAMES}><w:body><w:p>{runs}</w:p></w:body></w:document>"
    return documents.rezipped(documents.docx(), word__document_dot_xml=body)


def slide_line(*, in_notes: bool = False) -> bytes:
    from pptx import Presentation

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    frame = slide.notes_slide.notes_text_frame if in_notes else slide.shapes.title.text_frame
    paragraph = frame.paragraphs[0]
    for text, mark in PIECES:
        run = paragraph.add_run()
        run.text = text
        name, value = {
            "sup": ("baseline", "30000"),
            "sub": ("baseline", "-25000"),
            "del": ("strike", "sngStrike"),
        }.get(mark, ("baseline", "0"))
        run.font._element.set(name, value)
    return documents.saved(presentation.save)


def open_line(body: str = "text") -> bytes:
    """The line in a paragraph of an OpenDocument text or slide."""
    properties = {
        "sup": 'style:text-position="super 58%"',
        "sub": 'style:text-position="-8% 58%"',
        "del": 'style:text-line-through-style="solid"',
    }
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties {value}/></style:style>'
        for name, value in properties.items()
    )
    spans = "".join(f'<text:span text:style-name="{mark}">{text}</text:span>' for text, mark in PIECES)
    return with_styles(f"<text:p>{spans}</text:p>", styles, body)


def with_styles(content: str, styles: str, kind: str = "text") -> bytes:
    inner = {
        "text": f"<office:text>{content}</office:text>",
        "presentation": f"<draw:page>{content}</draw:page>",
        "spreadsheet": f'<table:table table:name="S"><table:table-row><table:table-cell>{content}</table:table-cell></table:table-row></table:table>',
    }[kind]
    names = 'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    source = opendocument(inner, kind)
    return documents.rezipped(
        source,
        content_dot_xml=documents.zip_part(source, "content.xml")
        .decode()
        .replace(
            "<office:body>",
            f"<office:automatic-styles {names}>{styles}</office:automatic-styles><office:body>",
        ),
    )


def rich_sheet(*, is_shared: bool = True) -> bytes:
    """The line in a cell whose text is shared, or stands in the cell."""
    properties = {
        "sup": '<vertAlign val="superscript"/>',
        "sub": '<vertAlign val="subscript"/>',
        "del": "<strike/>",
    }
    runs = "".join(
        f'<r><rPr>{properties.get(mark, "")}</rPr><t xml:space="preserve">{text}</t></r>'
        for text, mark in PIECES
    )
    name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = '<c r="A1" t="s"><v>0</v></c>' if is_shared else f'<c r="A1" t="inlineStr"><is>{runs}</is></c>'
    sheet = f'<worksheet xmlns="{name}"><sheetData><row r="1">{cell}</row></sheetData></worksheet>'
    types = documents.zip_part(documents.xlsx(), "[Content_Types].xml").decode()
    shared = '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
    return documents.rezipped(
        documents.xlsx(),
        **{"[Content_Types].xml": types.replace("</Types>", f"{shared}</Types>")},
        xl__sharedStrings_dot_xml=f'<sst xmlns="{name}"><si>{runs}</si></sst>',
        xl__worksheets__sheet1_dot_xml=sheet,
    )


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        pytest.param("text/html", f"<p>{HTML_LINE}</p>".encode(), id="HTML"),
        pytest.param("application/epub+zip", documents.epub(f"<p>{HTML_LINE}</p>"), id="EPUB"),
        pytest.param("message/rfc822", f"Content-Type: text/html\n\n<p>{HTML_LINE}</p>".encode(), id="mail"),
        pytest.param(WORD, word_line(), id="Word"),
        pytest.param(SLIDES, slide_line(), id="slides"),
        pytest.param(SLIDES, slide_line(in_notes=True), id="notes of slides"),
        pytest.param(EXCEL, rich_sheet(), id="sheets"),
        pytest.param(EXCEL, rich_sheet(is_shared=False), id="sheets that share no texts"),
        pytest.param("application/rtf", RTF_LINE, id="RTF"),
        pytest.param(OPEN_DOCUMENT + "text", open_line(), id="ODT"),
        pytest.param(OPEN_DOCUMENT + "presentation", open_line("presentation"), id="ODP"),
        pytest.param(OPEN_DOCUMENT + "spreadsheet", open_line("spreadsheet"), id="ODS"),
    ],
)
def test_scripts_and_struck_words_are_read_alike(tmp_path: Path, content_type: str, content: bytes) -> None:
    assert LINE in extracted(tmp_path, content_type, content).split("\n")


@pytest.mark.parametrize(
    ("text", "form", "line"),
    [
        pytest.param("n+1", Form(1), "x^(n+1)", id="a power of several terms"),
        pytest.param("-6", Form(1), "x^-6", id="a negative power"),
        pytest.param("max", Form(-1), "x_max", id="a word below"),
        pytest.param("st", Form(1), "xst", id="the ending of a number"),
        pytest.param("[1]", Form(1), "x[1]", id="the mark of a note"),
        pytest.param(" old ", Form(is_struck=True), "x ~~old~~ ", id="struck with blanks"),
        pytest.param("2", Form(1, is_struck=True), "x~~^2~~", id="both"),
        pytest.param(" ", Form(1), "x ", id="nothing but a blank"),
    ],
)
def test_a_form_becomes_characters(text: str, form: Form, line: str) -> None:
    assert marked([("x", Form()), (text, form)]) == line


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param("<ol start=3><li>c<li>d</ol>", ["3. c", "4. d"], id="start"),
        pytest.param("<ol type=a><li>x<li>y</ol>", ["a. x", "b. y"], id="type"),
        pytest.param("<ol style='list-style-type: upper-roman'><li>x<li>y</ol>", ["I. x", "II. y"], id="style"),
        pytest.param("<ol reversed><li>x<li>y</ol>", ["2. x", "1. y"], id="reversed"),
        pytest.param("<ol><li value=7>x<li>y</ol>", ["7. x", "8. y"], id="value"),
        pytest.param("<ol><li>x<ol><li>in</ol><li>y</ol>", ["1. x", "1. in", "2. y"], id="nesting"),
        pytest.param("<ol><li><p>x</p><li><div><p>y</p></div></ol>", ["1. x", "2. y"], id="paragraphs"),
        pytest.param("<ol start=99999999999999><li>x</ol>", ["1. x"], id="no number"),
        pytest.param("<ol><li>x<ul><li>in</ul></ol>", ["1. x", "- in"], id="bullets inside"),
        pytest.param("<ol style='list-style: none'><li>x</ol>", ["- x"], id="without numbers"),
        pytest.param("<del><p>one</p><p>two</p></del>", ["~~one~~", "~~two~~"], id="struck paragraphs"),
        pytest.param("<p>a<span style='text-decoration:line-through'>b</span>", ["a~~b~~"], id="struck by style"),
        pytest.param("<p>a<span style='vertical-align: super'>2</span>", ["a^2"], id="raised by style"),
        pytest.param("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>です", ["漢字(かんじ)です"], id="ruby"),
        pytest.param("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", ["a | b", "| c"], id="a cell of two rows"),
        pytest.param("<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>", ["a |  | b", "c | d | e"], id="a cell of two columns"),
        pytest.param("<table><thead><tr><th rowspan=9>a<th>b</thead><tbody><tr><td>c<td>d</table>", ["a | b", "c | d"], id="a cell of more rows than its group has"),
        pytest.param("<table><tr><td colspan=99999999>a<td>b</table>", ["a" + " | " * 100 + "b"], id="a cell of too many columns"),
        pytest.param("<table><tr><td><p>a</p><p>b</p><td>c<br>d</table>", ["a b | c d"], id="paragraphs in cells"),
        pytest.param("<table><tr><td><p>a</p><p>b</p></table>", ["a", "b"], id="a table that is a frame"),
        pytest.param("<table><tr><td><h2>A</h2><p>b</p><td>c</table>", ["## A", "b\n| c"], id="a table that is a layout"),
        pytest.param("<pre>\nif a:\n    b()\n</pre>c", ["if a:\n    b()\nc"], id="code"),
        pytest.param("<textarea>a\n  b</textarea>", ["a\n  b"], id="a field of lines"),
    ],
)  # fmt: skip
def test_a_page_is_read_with_its_formatting(tmp_path: Path, source: str, lines: list[str]) -> None:
    text = extracted(tmp_path, "text/html", f"<html><body>{source}</body></html>".encode())
    assert text.split("\n\n") == lines


LISTS = "<ol start=3><li>c</li><li>d</li></ol><p><ruby>漢字<rt>かんじ</rt></ruby>です</p>"
OPEN_LISTS = (
    '<text:list text:style-name="L"><text:list-item><text:p>c</text:p></text:list-item>'
    "<text:list-item><text:p>d</text:p></text:list-item></text:list>"
    "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>です</text:p>"
)
OPEN_LEVEL = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
    ' style:num-suffix="." text:start-value="3"/></text:list-style>'
)


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        pytest.param("text/html", LISTS.encode(), id="HTML"),
        pytest.param("application/epub+zip", documents.epub(LISTS), id="EPUB"),
        pytest.param(
            "message/rfc822", f"Content-Type: text/html; charset=utf-8\n\n{LISTS}".encode(), id="mail"
        ),
        pytest.param(OPEN_DOCUMENT + "text", with_styles(OPEN_LISTS, OPEN_LEVEL), id="ODT"),
        pytest.param(
            OPEN_DOCUMENT + "presentation",
            with_styles(f"<draw:frame><draw:text-box>{OPEN_LISTS}</draw:text-box></draw:frame>", OPEN_LEVEL, "presentation"),
            id="ODP",
        ),
    ],
)  # fmt: skip
def test_numbers_of_lists_and_readings_are_read_alike(
    tmp_path: Path, content_type: str, content: bytes
) -> None:
    lines = [line for line in extracted(tmp_path, content_type, content).split("\n") if line]
    begin = lines.index("3. c")
    assert lines[begin : begin + 3] == ["3. c", "4. d", "漢字(かんじ)です"]


def test_the_main_text_of_a_page_keeps_its_formatting(tmp_path: Path) -> None:
    article = f"<p>{HTML_LINE}. {'More of the text. ' * 20}</p><ol start=3><li>third point</li><li>fourth point</li></ol>"
    (tmp_path / "content").write_text(f"<html><body><article><h1>T</h1>{article}</article></body></html>")
    (tmp_path / "address").write_text("https://example.org/")
    read_main_text(tmp_path / "content", tmp_path / "text")
    text = (tmp_path / "text").read_text()
    assert LINE in text
    assert "3. third point\n4. fourth point" in text


def test_struck_paragraphs_of_rtf_are_struck_each(tmp_path: Path) -> None:
    source = rb"{\rtf1\ansi \strike one\par two\strike0\par {\super n+1}}"
    assert extracted(tmp_path, "application/rtf", source) == "~~one~~\n~~two~~\n^(n+1)"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param(r"10{\super \u8722?6}", "10^−6", id="a minus sign"),
        pytest.param(r"x{\super \u1055?\u1088?}", "x^Пр", id="letters above the line"),
        pytest.param(r"x{\sub \u-10187?\u-9138?}y", "x_(𝑎)y", id="a letter of two numbers"),
        pytest.param(r"{\strike \u1055?\u1088?}", "~~Пр~~", id="struck letters"),
        pytest.param(r"{\f1 x{\super \'82\'a0}}", "x^あ", id="a letter of two bytes"),
        pytest.param(
            r"{\uc2 x{\super \u12354\'82\'a0 b\u1088??} c}", "x^(あ bр) c", id="two characters replace one"
        ),
        pytest.param(r"{\uc0 x{\super \u1087}6}", "x^п6", id="nothing replaces one"),
        pytest.param(r"x{\super \{a\}}", "x^({a})", id="brackets"),
        pytest.param(r"x{\super n", "x^n", id="an end that is missing"),
    ],
)
def test_letters_of_rtf_are_raised_and_struck_as_digits_are(tmp_path: Path, source: str, text: str) -> None:
    source = r"{\rtf1\ansi{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 B;}}" + source + "}"
    assert extracted(tmp_path, "application/rtf", source.encode()) == text


def test_a_ruby_of_word_is_its_base_with_the_reading_behind_it(tmp_path: Path) -> None:
    ruby = "<w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>"
    body = f"<w:document {NAMES}><w:body><w:p><w:r>{ruby}</w:r><w:r><w:t>です</w:t></w:r></w:p></w:body></w:document>"
    content = documents.rezipped(documents.docx(), word__document_dot_xml=body)
    assert extracted(tmp_path, WORD, content) == "漢字(かんじ)です"


def test_lists_and_rubies_of_opendocument_are_read(tmp_path: Path) -> None:
    def level(number: int, more: str) -> str:
        return f'<text:list-level-style-number text:level="{number}" {more}/>'

    styles = (
        '<text:list-style style:name="L">'
        + level(1, 'style:num-format="1" style:num-suffix="." text:start-value="3"')
        + level(2, 'style:num-format="a" style:num-suffix=")" text:display-levels="2"')
        + "</text:list-style>"
    )
    inner = "<text:list><text:list-item><text:p>in</text:p></text:list-item></text:list>"
    body = (
        f'<text:list text:style-name="L"><text:list-item><text:p>c</text:p>{inner}</text:list-item>'
        '<text:list-item text:start-value="9"><text:p>i</text:p></text:list-item></text:list>'
        '<text:list text:style-name="L" text:continue-numbering="true"><text:list-item><text:p>j</text:p></text:list-item></text:list>'
        '<text:list text:style-name="B"><text:list-item><text:p>dot</text:p></text:list-item></text:list>'
        "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>"
    )
    lines = extracted(tmp_path, OPEN_DOCUMENT + "text", with_styles(body, styles)).split("\n\n")
    assert lines == ["3. c", "3.a) in", "9. i", "10. j", "dot", "漢字(かんじ)"]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1067, "00000", "01067"),
        (42, '"ART-"0000', "ART-0042"),
        (0.155, "0.0%", "15.5%"),
        (0.155, "0%", "15.5%"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
        (1234.5, r"#,##0.00\ [$€-407]", "1,234.50 €"),
        (-1234567.891, r"#,##0.00_);[Red]\(#,##0.00\)", "(1,234,567.891)"),
        (4915112345678, r"+##\ ###\ #######", "+491 511 2345678"),
        (123456789, "000-00-0000", "123-45-6789"),
        (2500000, '0.0,,"M"', "2.5M"),
        (0, '"yes";"no";"none"', "none"),
        (-0.5, "0.0%", "-50.0%"),
        (7, '"K-"@', "7"),
        ("x", '"ID "@', "ID x"),
        (0.1 + 0.2, "General", "0.3"),
        (5, "# ?/?", "5"),
        (5, '[>3]"big";0', "5"),
        (5, ";;;", "5"),
        (float("inf"), "0.00", "inf"),
        (True, "0", "True"),
        (datetime.fromisoformat("2026-05-03"), "dd.mm.yyyy", "2026-05-03"),
        (datetime.fromisoformat("2026-05-03T14:30"), "dd.mm.yyyy hh:mm", "2026-05-03 14:30"),
        (time(12, 30), "h:mm", "12:30"),
        (timedelta(hours=36, seconds=5), "[h]:mm", "36:00:05"),
    ],
)
def test_a_value_is_written_in_its_format(value: Any, number_format: str, text: str) -> None:
    assert formatted(value, number_format) == text


def sheet(rows: list[tuple[int, list[Any]]]) -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    for number, values in rows:
        for column, value in enumerate(values, 1):
            workbook.active.cell(number, column, value)
    return documents.saved(workbook.save)


def test_empty_rows_are_neither_counted_nor_in_the_way_of_others(tmp_path: Path) -> None:
    few = extracted(tmp_path, EXCEL, sheet([(1, ["Item"]), (3, ["Apples"]), (5, ["Pears"])]))
    assert few == "Sheet Sheet: 1 columns, 2 rows\nItem\nApples\nPears"
    many = extracted(tmp_path, EXCEL, sheet([(1 + 3 * number, [number]) for number in range(81)]))
    head, *lines = many.split("\n")
    assert head == "Sheet Sheet: 1 columns, 80 rows, of which the first 50 follow"
    assert lines == [str(number) for number in range(51)]


def test_rows_far_below_are_counted(tmp_path: Path) -> None:
    text = extracted(tmp_path, EXCEL, sheet([(1, ["Item"]), (2, ["Apples"]), (20_000, ["Pears"])]))
    assert text == "Sheet Sheet: 1 columns, 2 rows, of which the first 1 follow\nItem\nApples"


def test_a_sheet_whose_rows_all_stand_far_below_is_not_called_empty(tmp_path: Path) -> None:
    text = extracted(tmp_path, EXCEL, sheet([(20_000, ["Pears"])]))
    assert text == "Sheet Sheet: 1 rows, all below row 10,000, of which none follows"


def test_a_cell_shows_its_format(tmp_path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Font

    workbook = Workbook()
    cells = {"A1": (1067, "00000"), "B1": (0.155, "0.0%"), "C1": ("gone", "General")}
    for place, (value, number_format) in cells.items():
        workbook.active[place] = value
        workbook.active[place].number_format = number_format
    workbook.active["C1"].font = Font(strike=True)
    text = extracted(tmp_path, EXCEL, documents.saved(workbook.save))
    assert text.split("\n")[1:] == ["01067 | 15.5% | ~~gone~~"]
