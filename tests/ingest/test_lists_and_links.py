"""Numbers of lists, targets of links and formulas of slides are read as people see them; a document without words says so."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import json

from ingest.reader.counting import written, written_on_slide
from ingest.reader.numbering import Numbering
from ingest.reader.office_xml import with_target
from tests.ingest import documents
from tests.ingest.test_office_details import EXCEL, NAMES, SLIDES, TWO, WORD, X, extracted

pytestmark = [pytest.mark.pure, pytest.mark.slow]

R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def level(number: int, form: str, text: str, *, start: int = 1, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


LEVELS = level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)") + level(2, "upperRoman", "%1.%2.%3")
NUMS = '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
AGAIN = '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'


def item(text: str, place: int = 0, num: int = 1, more: str = "") -> str:
    """A numbered paragraph."""
    numbered = f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{num}"/></w:numPr>'
    return f"<w:p><w:pPr>{numbered}{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def document(body: str, levels: str = LEVELS, nums: str = NUMS, styles: str = "") -> bytes:
    kind = f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
    parts = {
        "word__document_dot_xml": f'<w:document {NAMES} xmlns:r="{R}"><w:body>{body}</w:body></w:document>',
        "word__numbering_dot_xml": f"<w:numbering {NAMES}>{kind}{nums}</w:numbering>",
    }
    if styles:
        parts["word__styles_dot_xml"] = f"<w:styles {NAMES}>{styles}</w:styles>"
    return documents.rezipped(documents.docx(), **parts)


def lines(folder: Path, content: bytes, content_type: str = WORD) -> list[str]:
    return extracted(folder, content_type, content).split("\n\n")


def test_lists_are_numbered_by_their_levels(tmp_path: Path) -> None:
    body = "".join(
        item(text, place)
        for text, place in (("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 0), ("f", 1), ("g", 2))
    )
    expected = ["1. a", "a) b", "b) c", "1.b.I d", "2. e", "a) f", "2.a.I g"]
    assert lines(tmp_path, document(body)) == expected


def test_a_list_that_begins_anew_has_its_own_numbers(tmp_path: Path) -> None:
    body = "".join(
        (
            item("a"),
            item("b"),
            "<w:p><w:r><w:t>between</w:t></w:r></w:p>",
            item("c"),
            item("d", num=2),
            item("e", num=2),
        )
    )
    assert lines(tmp_path, document(body, nums=NUMS + AGAIN)) == [
        "1. a",
        "2. b",
        "between",
        "3. c",
        "5. d",
        "6. e",
    ]


def test_levels_restart_as_the_list_says(tmp_path: Path) -> None:
    levels = level(0, "decimal", "%1.") + level(1, "decimal", "%2.", more='<w:lvlRestart w:val="0"/>')
    body = "".join((item("a"), item("b", 1), item("c"), item("d", 1)))
    assert lines(tmp_path, document(body, levels)) == ["1. a", "1. b", "2. c", "2. d"]


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        (level(0, "bullet", "\uf0b7"), "- a"),
        (level(0, "none", "Article"), "Article a"),
        (level(0, "decimalZero", "§ %1", start=7), "§ 07 a"),
        (level(0, "lowerRoman", "%1", start=4), "iv a"),
        ("", "a"),
    ],
)
def test_labels_of_levels(tmp_path: Path, levels: str, text: str) -> None:
    assert lines(tmp_path, document(item("a"), levels)) == [text]


def test_legal_numbers_are_decimal(tmp_path: Path) -> None:
    levels = level(0, "upperRoman", "%1") + level(1, "decimal", "%1.%2", more="<w:isLgl/>")
    assert lines(tmp_path, document(item("a") + item("b", 1), levels)) == ["I a", "1.1 b"]


def test_numbers_of_styles_and_of_those_they_rest_on(tmp_path: Path) -> None:
    numbered = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = (
        f'<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>{numbered}</w:style>'
        f'<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:basedOn w:val="Heading1"/></w:style>'
        f'<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="loop"/><w:basedOn w:val="Loop"/></w:style>'
    )
    levels = level(0, "decimal", "%1", more='<w:pStyle w:val="Heading1"/>') + level(
        1, "decimal", "%1.%2", more='<w:pStyle w:val="Heading2"/>'
    )
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for text, style, more in (
            ("a", "Heading1", ""), ("b", "Heading2", ""), ("c", "Heading2", ""), ("d", "Heading1", ""), ("e", "Loop", ""),
            ("f", "Heading1", '<w:numPr><w:numId w:val="0"/></w:numPr>'),
        )
    )  # fmt: skip
    assert lines(tmp_path, document(body, levels, styles=styles)) == [
        "# 1 a",
        "## 1.1 b",
        "## 1.2 c",
        "# 2 d",
        "e",
        "# f",
    ]


def test_a_list_of_a_style_looks_like_the_list_that_the_style_names(tmp_path: Path) -> None:
    style = '<w:style w:styleId="S"><w:name w:val="S"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    linked = '<w:abstractNum w:abstractNumId="8"><w:numStyleLink w:val="S"/></w:abstractNum>'
    nums = f'{linked}{NUMS}<w:num w:numId="3"><w:abstractNumId w:val="8"/></w:num>'
    assert lines(tmp_path, document(item("a", num=3), nums=nums, styles=style)) == ["1. a"]


def test_lists_that_lead_to_themselves_end(tmp_path: Path) -> None:
    style = '<w:style w:styleId="S"><w:name w:val="S"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    body = item("a") + item("b", 8) + item("c", 99) + item("d", num=9)
    assert lines(tmp_path, document(body, '<w:numStyleLink w:val="S"/>', styles=style)) == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_items_without_text_count_and_those_that_were_deleted_do_not(tmp_path: Path) -> None:
    deleted = item("", more="<w:rPr><w:del/></w:rPr>").replace("<w:t></w:t>", "<w:delText>b</w:delText>")
    assert lines(tmp_path, document(item("a") + deleted + item("c") + item("") + item("d"))) == [
        "1. a",
        "2. c",
        "4. d",
    ]


def test_items_in_cells_are_numbered(tmp_path: Path) -> None:
    body = (
        f"{item('a')}<w:tbl><w:tr><w:tc>{item('b')}</w:tc><w:tc>{item('c')}</w:tc></w:tr></w:tbl>{item('d')}"
    )
    assert lines(tmp_path, document(body)) == ["1. a", "2. b | 3. c", "4. d"]


def test_rows_that_were_deleted_are_not_read(tmp_path: Path) -> None:
    row = "<w:tr>{}<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc></w:tr>"
    body = f"<w:tbl>{row.format('', 'kept')}{row.format('<w:trPr><w:del/></w:trPr>', 'gone')}</w:tbl>"
    assert lines(tmp_path, document(body)) == ["kept"]


def test_a_row_that_begins_further_right_has_empty_cells_before(tmp_path: Path) -> None:
    row = "<w:tr><w:trPr>{}</w:trPr><w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc></w:tr>"
    before = '<w:gridBefore w:val="{}"/>'
    rows = row.format("", "a") + row.format(before.format(2), "b") + row.format(before.format("9" * 8), "c")
    assert lines(tmp_path, document(f"<w:tbl>{rows}</w:tbl>")) == [f"a\n |  | b\n{' | ' * 63}c"]


def test_a_text_box_is_read_once(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    both = f'<mc:AlternateContent xmlns:mc="{mc}"><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>'
    assert lines(tmp_path, document(f"<w:p><w:r><w:t>around</w:t>{both}</w:r></w:p>")) == ["around", "boxed"]


def test_lists_count_in_one_pass() -> None:
    from lxml import etree

    numbering = etree.fromstring(
        f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="7">{LEVELS}</w:abstractNum>{NUMS}</w:numbering>'
    )
    paragraph = etree.fromstring(item("a").replace("<w:p>", f'<w:p xmlns:w="{W}">', 1))
    counted = Numbering(numbering, None)
    assert [counted.label(paragraph) for _ in range(50_000)][-1] == "50000."


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (1, "lowerLetter", "a"), (26, "upperLetter", "Z"), (28, "lowerLetter", "bb"), (10**6, "lowerLetter", "1000000"), (0, "lowerRoman", "0"),
        (1994, "upperRoman", "MCMXCIV"), (4000, "lowerRoman", "4000"), (3, "decimalZero", "03"), (11, "ordinal", "11th"), (22, "ordinal", "22nd"),
        (3, "decimalEnclosedCircle", "③"), (99, "decimalEnclosedCircle", "99"), (10, "chineseCounting", "十"), (25, "japaneseCounting", "二十五"),
        (7, "unheard", "7"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_word_does(number: int, form: str, text: str) -> None:
    assert written(number, form) == text


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("arabicPeriod", "4."),
        ("arabicParenBoth", "(4)"),
        ("alphaLcParenR", "d)"),
        ("romanUcPlain", "IV"),
        ("ea1ChsPeriod", "四."),
        ("x", "4."),
    ],
)
def test_numbers_are_written_as_powerpoint_does(form: str, text: str) -> None:
    assert written_on_slide(4, form) == text


def linked(targets: dict[str, str], body: str) -> bytes:
    """A document with these relationships beside its own, by their ids."""
    lines = "".join(
        f'<Relationship Id="{key}" Type="{R}/hyperlink" Target="{target}" TargetMode="External"/>'
        for key, target in targets.items()
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    relations = {
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{namespace}">{lines}</Relationships>'
    }
    return documents.rezipped(document(body), **relations)


def test_links_of_word_lead_where_they_do(tmp_path: Path) -> None:
    text = "<w:r><w:t>{}</w:t></w:r>"
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    instruction = '<w:r><w:instrText> HYPERLINK </w:instrText></w:r><w:r><w:instrText>"https://c.example/" </w:instrText></w:r>'
    body = "".join(
        f"<w:p>{one}</w:p>"
        for one in (
            f'{text.format("See ")}<w:hyperlink r:id="a">{text.format("the ")}{text.format("sea")}</w:hyperlink>{text.format(".")}',
            f'<w:hyperlink r:id="a" w:anchor="top">{text.format("top")}</w:hyperlink>',
            f'<w:hyperlink w:anchor="top">{text.format("inside")}</w:hyperlink>',
            f'<w:hyperlink r:id="m">{text.format("a@b.example")}</w:hyperlink>',
            f'<w:hyperlink r:id="gone">{text.format("gone")}</w:hyperlink>',
            f'<w:fldSimple w:instr=" HYPERLINK &quot;https://b.example/&quot; \\o">{text.format("simple")}</w:fldSimple>',
            f"{mark.format('begin')}{instruction}{mark.format('separate')}{text.format('field')}{mark.format('end')}",
            f"{mark.format('end')}{mark.format('separate')}{mark.format('begin')}{text.format('unclosed')}",
        )
    )
    assert lines(tmp_path, linked({"a": "https://a.example/x y", "m": "mailto:a@b.example"}, body)) == [
        "See [the sea](https://a.example/x%20y).",
        "[top](https://a.example/x%20y#top)",
        "inside",
        "a@b.example",
        "gone",
        "[simple](https://b.example/)",
        "[field](https://c.example/)",
        "unclosed",
    ]


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        pytest.param(' IF { MERGEFIELD Sex | F } = "F" "Mrs" "Mr" | Mrs', "Dear Mrs Weber", id="a field with a result"),
        pytest.param(" ASK Sex { MERGEFIELD Sex | F } ", "Dear  Weber", id="a field without a result"),
        pytest.param(' HYPERLINK "https://a.example/" | { PAGE | 7 }', "Dear [7](https://a.example/) Weber", id="a field in a result"),
    ],
)  # fmt: skip
def test_results_of_fields_in_an_instruction_are_not_shown(
    tmp_path: Path, instruction: str, text: str
) -> None:
    """A field is written { instruction | result }."""
    kinds = {"{": "begin", "|": "separate", "}": "end"}
    body, open_fields = "", []
    for token in re.split(r"([{|}])", f"Dear {{{instruction}}} Weber"):
        if token in kinds:
            body += f'<w:r><w:fldChar w:fldCharType="{kinds[token]}"/></w:r>'
            open_fields = {
                "{": [*open_fields, token],
                "|": [*open_fields[:-1], token],
                "}": open_fields[:-1],
            }[token]
        elif open_fields[-1:] == ["{"]:
            body += f"<w:r><w:instrText>{token}</w:instrText></w:r>"
        else:
            words = token.strip() if open_fields else token
            body += f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'
    assert lines(tmp_path, document(f"<w:p>{body}</w:p>")) == [text]


@pytest.mark.parametrize(
    ("text", "target", "shown"),
    [
        ("sea", "https://a.example/(x)", "[sea](https://a.example/%28x%29)"),
        (" sea ", "https://a.example", " [sea](https://a.example) "),
        ("https://a.example", "https://a.example/", "https://a.example"),
        ("sea", "file:///home/alice/sea.docx", "sea"),
        ("sea", "javascript:alert(1)", "sea"),
        ("sea", "https://a.example/" + "x" * 2_000, "sea"),
        ("", "https://a.example", ""),
    ],
)
def test_targets_beside_texts(text: str, target: str, shown: str) -> None:
    assert with_target(text, target) == shown


def test_links_of_cells_lead_where_they_do(tmp_path: Path) -> None:
    from openpyxl import Workbook

    workbook = Workbook()
    sheet = workbook.active
    for row in (["name", "page"], ["Sea", "home"], [7, '=HYPERLINK("https://f.example/","form")']):
        sheet.append(row)
    sheet["B2"].hyperlink = "https://a.example/?a=1&b=2"
    sheet["A3"].hyperlink = "https://seven.example/"
    sheet["A90"] = "below"
    sheet["A90"].hyperlink = "https://below.example/"
    text = extracted(tmp_path, EXCEL, documents.saved(workbook.save))
    assert text.split("\n")[1:4] == [
        "name | page",
        "Sea | [home](https://a.example/?a=1&b=2)",
        '[7](https://seven.example/) | =HYPERLINK("https://f.example/","form")',
    ]


A14 = "http://schemas.microsoft.com/office/drawing/2010/main"


def slide_of(tree: str, relations: str = "") -> bytes:
    """A presentation of which the one slide has these shapes."""
    from pptx import Presentation

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    if relations:
        slide.part.relate_to(relations, f"{R}/hyperlink", is_external=True)
    from pptx.oxml import parse_xml

    names = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        f'xmlns:r="{R}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:a14="{A14}" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    )
    for shape in parse_xml(f"<p:spTree {names}>{tree}</p:spTree>"):
        slide.shapes.element.append(shape)
    return documents.saved(presentation.save)


def shape(*paragraphs: str, style: str = "") -> str:
    inside = "".join(f"<a:p>{one}</a:p>" for one in paragraphs)
    return f"<p:sp><p:txBody><a:bodyPr/>{style}{inside}</p:txBody></p:sp>"


def said(text: str, properties: str = "") -> str:
    return f"{properties}<a:r><a:t>{text}</a:t></a:r>"


def numbered(text: str, form: str = "arabicPeriod", place: int = 0, start: str = "") -> str:
    return said(text, f'<a:pPr lvl="{place}"><a:buAutoNum type="{form}"{start}/></a:pPr>')


def test_formulas_of_slides_stand_where_they_are(tmp_path: Path) -> None:
    formula = f"<a14:m><m:oMathPara><m:oMath><m:f><m:num>{X}</m:num><m:den>{TWO}</m:den></m:f></m:oMath></m:oMathPara></a14:m>"
    newer, older = shape(said("So ") + formula + said(" ends.")), shape(said("a picture of it"))
    tree = f'<mc:AlternateContent><mc:Choice Requires="a14">{newer}</mc:Choice><mc:Fallback>{older}</mc:Fallback></mc:AlternateContent>'
    within = f'<mc:AlternateContent><mc:Choice Requires="a14">{formula}</mc:Choice><mc:Fallback>{said("no")}</mc:Fallback></mc:AlternateContent>'
    text = extracted(tmp_path, SLIDES, slide_of(tree + f"<p:grpSp>{shape(said('And ') + within)}</p:grpSp>"))
    assert text == "Slide 1\nSo \\frac{x}{2} ends.\nAnd \\frac{x}{2}"


def test_lists_of_slides_are_numbered(tmp_path: Path) -> None:
    style = '<a:lstStyle><a:lvl1pPr><a:buAutoNum type="romanUcPeriod"/></a:lvl1pPr></a:lstStyle>'
    tree = shape(
        numbered("a"), numbered("b"), numbered("c", "alphaLcParenR", 1), "", numbered("d", "alphaLcParenR", 1), numbered("e"), said("between"),
        numbered("f"), numbered("g", start=' startAt="5"'), numbered("h", start=' startAt="5"'),
    ) + shape(said("i"), said("j", "<a:pPr><a:buNone/></a:pPr>"), said("k"), style=style)  # fmt: skip
    text = extracted(tmp_path, SLIDES, slide_of(tree))
    assert text.split("\n")[1:] == [
        "1. a", "2. b", "a) c", "", "b) d", "3. e", "between", "1. f", "5. g", "6. h", "I. i", "j", "I. k",
    ]  # fmt: skip


def test_links_of_slides_lead_where_they_do(tmp_path: Path) -> None:
    link = '<a:r><a:rPr><a:hlinkClick r:id="{}"/></a:rPr><a:t>{}</a:t></a:r>'
    content = slide_of(
        shape(
            said("See ")
            + link.format("rId2", "the ")
            + link.format("rId2", "sea")
            + link.format("rId99", ".")
        ),
        "https://a.example/",
    )
    assert extracted(tmp_path, SLIDES, content) == "Slide 1\nSee [the sea](https://a.example/)."


def note_of(folder: Path, content_type: str, content: bytes) -> str:
    """The text, which is nothing but a note."""
    text = extracted(folder, content_type, content)
    assert json.decode((folder / "outcome.json").read_bytes())["notes_length"] == len(text)
    return text


def test_a_document_of_pictures_alone_says_so(tmp_path: Path) -> None:
    from docx import Document
    from docx.shared import Cm

    (tmp_path / "picture").write_bytes(documents.picture())
    made = Document()
    for _ in range(2):
        made.add_picture(str(tmp_path / "picture"), Cm(1))
    text = note_of(tmp_path, WORD, documents.saved(made.save))
    assert (
        text == "[Nothing of this document follows: it has no text; it shows what is not read: pictures (2)]"
    )


def test_a_presentation_of_pictures_alone_says_so(tmp_path: Path) -> None:
    from pptx import Presentation
    from pptx.util import Cm

    (tmp_path / "picture").write_bytes(documents.picture())
    presentation = Presentation()
    for _ in range(2):
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        slide.shapes.add_picture(str(tmp_path / "picture"), Cm(1), Cm(1))
    text = note_of(tmp_path, SLIDES, documents.saved(presentation.save))
    assert (
        text == "[Nothing of this document follows: it has no text; it shows what is not read: pictures (2)]"
    )


@pytest.mark.parametrize(
    ("content_type", "make"),
    [
        (WORD, lambda: document("<w:p/>")),
        (SLIDES, lambda: slide_of(shape(said(" ")))),
        ("text/html", lambda: b"<svg><text>x</text></svg>"),
        ("text/plain", lambda: b" \n"),
    ],
)
def test_no_file_is_ready_without_a_word(
    tmp_path: Path, content_type: str, make: Callable[[], bytes]
) -> None:
    text = note_of(tmp_path, content_type, make())
    assert text.startswith("[Nothing of this ")
