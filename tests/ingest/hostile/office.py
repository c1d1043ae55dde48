"""Office documents and books whose parts attack the libraries that read them."""

from functools import partial
from typing import Final

from tests.ingest.documents import LAUGHS, XXE, docx, epub, pptx, rezipped, xlsx

WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN_PARTS: Final = {"docx": (docx, "word/document.xml"), "pptx": (pptx, "ppt/presentation.xml"), "xlsx": (xlsx, "xl/workbook.xml")}  # fmt: skip


def word(body: str, *, end: str = "</w:body></w:document>") -> bytes:
    return rezipped(docx(), word__document_dot_xml=f'<w:document xmlns:w="{WORD}"><w:body>{body}{end}')


def sheet(rows: str, before: str = "") -> bytes:
    text = f'<worksheet xmlns="{SHEET}">{before}<sheetData>{rows}</sheetData></worksheet>'
    return rezipped(xlsx(), xl__worksheets__sheet1_dot_xml=text)


def related(*targets: tuple[str, str, str]) -> bytes:
    """A Word document with these relationships (type, target, mode) beside its own."""
    lines = "".join(
        f'<Relationship Id="h{n}" Type="{TYPES}/{kind}" Target="{target}" TargetMode="{mode}"/>'
        for n, (kind, target, mode) in enumerate(targets)
    )
    return rezipped(
        docx(),
        **{"word/_rels/document.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{lines}</Relationships>'},
    )


def book(spine: str, manifest: str = '<item id="a" href="first.xhtml"/>') -> bytes:
    return epub(
        **{"OPS/book.opf": f"<package><manifest>{manifest}</manifest><spine>{spine}</spine></package>"}
    )


def _replaced(kind: str, text: str, _chance: object) -> bytes:
    make, part = MAIN_PARTS[kind]
    return rezipped(make(), **{part: text})


def numbered(kinds: str, body: str, styles: str = "") -> bytes:
    """A Word document with these kinds of lists, and paragraphs."""
    names = f'xmlns:w="{WORD}"'
    return rezipped(
        docx(),
        word__document_dot_xml=f"<w:document {names}><w:body>{body}</w:body></w:document>",
        word__numbering_dot_xml=f"<w:numbering {names}>{kinds}</w:numbering>",
        word__styles_dot_xml=f"<w:styles {names}>{styles}</w:styles>",
    )


def formula(body: str) -> bytes:
    return word(f'<w:p xmlns:m="{MATH}"><m:oMath>{body}</m:oMath></w:p>')


def slide(shapes: str) -> bytes:
    names = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in SLIDE_NAMES.items())
    text = f"<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    return rezipped(pptx(), ppt__slides__slide1_dot_xml=text)


def cell_links(elements: str) -> bytes:
    relation = f'<Relationship Id="a" Type="{TYPES}/hyperlink" Target="http://a/" TargetMode="External"/>'
    text = f'<worksheet xmlns="{SHEET}" xmlns:r="{TYPES}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>{elements}</worksheet>'
    return rezipped(
        xlsx(),
        xl__worksheets__sheet1_dot_xml=text,
        **{
            "xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{relation}</Relationships>'
        },
    )


MATH: Final = "http://schemas.openxmlformats.org/officeDocument/2006/math"
SLIDE_NAMES: Final = {
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main", "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006", "m": MATH,
}  # fmt: skip
_ITEM: Final = '<w:p><w:pPr><w:pStyle w:val="s{}"/><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
_LEVEL: Final = '<w:lvl w:ilvl="0"><w:start w:val="{}"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
_NUM: Final = '<w:num w:numId="{0}"><w:abstractNumId w:val="{0}"/></w:num>'
_FRACTION: Final = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den>{}</m:den></m:f>"
CELL: Final = "<w:tbl><w:tr><w:tc>"
FILES: Final = {
    **{f"{what}.{kind}": partial(_replaced, kind, text)
       for kind in MAIN_PARTS
       for what, text in {"xxe": XXE, "laughs": LAUGHS, "empty-part": "", "no-xml": "\x00\x01\x02",
                          "other-root": "<html/>", "deep-part": "<a>" * 300_000}.items()},
    "tables-in-tables.docx": lambda _: word(CELL * 50_000, end=""),
    "tables-closed.docx": lambda _: word(CELL * 300 + "</w:tc></w:tr></w:tbl>" * 300),
    "paragraphs.docx": lambda _: word("<w:p/>" * 500_000),
    "runs.docx": lambda _: word("<w:p>" + "<w:r><w:t>x</w:t></w:r>" * 200_000 + "</w:p>"),
    "wide-table.docx": lambda _: word("<w:tbl><w:tr>" + "<w:tc><w:p/></w:tc>" * 60_000 + "</w:tr></w:tbl>"),
    "grid-span.docx": lambda _: word('<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>'),
    "outside-relation.docx": lambda _: related(("attachedTemplate", "http://127.0.0.1:9/x", "External")),
    "own-relation.docx": lambda _: related(("officeDocument", "document.xml", "Internal"), ("styles", "../../../../etc/passwd", "Internal")),
    "relations.docx": lambda _: related(*[("hyperlink", f"http://a/{n}", "External") for n in range(50_000)]),
    "no-types.docx": lambda _: rezipped(docx(), **{"[Content_Types].xml": "<Types/>"}),
    "no-relations.docx": lambda _: rezipped(docx(), **{"_rels/.rels": f'<Relationships xmlns="{RELATIONSHIPS}"/>'}),
    "macros.docx": lambda _: rezipped(docx(), word__vbaProject_dot_bin=b"\xd0\xcf\x11\xe0" + b"\x00" * 5_000),
    "formula-deep.docx": lambda _: formula("<m:f><m:num>" * 100_000),
    "formula-nested.docx": lambda _: formula("<m:f><m:num><m:r><m:t>x</m:t></m:r></m:num><m:den>" * 80 + "</m:den></m:f>" * 80),
    "formula-wide.docx": lambda _: formula("<m:m>" + "<m:mr><m:e><m:r><m:t>x</m:t></m:r></m:e></m:mr>" * 200_000 + "</m:m>"),
    "formula-shared-parts.docx": lambda _: formula("<m:sSubSup>" + "<m:e><m:r><m:t>x</m:t></m:r></m:e>" * 300_000 + "</m:sSubSup>"),
    "formulas.docx": lambda _: formula(_FRACTION.format("<m:r><m:t>x</m:t></m:r>") * 100_000),
    "numbers-of-themselves.docx": lambda _: numbered(
        '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="s1"/></w:abstractNum><w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="s2"/></w:abstractNum>'
        + _NUM.format(1) + _NUM.format(2), _ITEM.format(1, 0, 1) * 1_000,
        "".join(f'<w:style w:styleId="s{n}"><w:basedOn w:val="s{3 - n}"/><w:pPr><w:numPr><w:numId w:val="{3 - n}"/></w:numPr></w:pPr></w:style>' for n in (1, 2))),
    "number-beyond.docx": lambda _: numbered(
        f'<w:abstractNum w:abstractNumId="1">{_LEVEL.format("9" * 30, "lowerLetter", "%1")}</w:abstractNum>{_NUM.format(1)}', _ITEM.format(0, "9" * 30, 1) * 10),
    "number-long.docx": lambda _: numbered(
        f'<w:abstractNum w:abstractNumId="1">{_LEVEL.format(1, "upperRoman", "%1" * 500_000)}</w:abstractNum>{_NUM.format(1)}', _ITEM.format(0, 0, 1) * 50_000),
    "numbers.docx": lambda _: numbered("".join(
        f'<w:abstractNum w:abstractNumId="{n}">{_LEVEL.format(1, "decimal", "%1")}</w:abstractNum>' for n in range(20_000))
        + "".join(map(_NUM.format, range(20_000))), "".join(_ITEM.format(n, 0, n) for n in range(20_000)),
        "".join(f'<w:style w:styleId="s{n}"><w:basedOn w:val="s{n + 1}"/></w:style>' for n in range(20_000))),
    "fields.docx": lambda _: word('<w:p>' + '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "http://a/"</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>x</w:t></w:r>' * 20_000
                                  + '<w:r><w:fldChar w:fldCharType="end"/></w:r>' * 20_000 + "</w:p>"),
    "instructions.docx": lambda _: word('<w:p><w:r><w:fldChar w:fldCharType="begin"/>' + "<w:instrText>HYPERLINK </w:instrText>" * 300_000 + "</w:r></w:p>"),
    "formula-deep.pptx": lambda _: slide("<p:sp><p:txBody><a:p>" + "<m:oMath><m:f><m:num>" * 50_000),
    "alternatives.pptx": lambda _: slide("<mc:AlternateContent><mc:Choice>" * 100 + "</mc:Choice></mc:AlternateContent>" * 100),
    "groups.pptx": lambda _: slide("<p:grpSp>" * 200 + "</p:grpSp>" * 200),
    "numbers.pptx": lambda _: slide("<p:sp><p:txBody>" + '<a:p><a:pPr lvl="99999999999999"><a:buAutoNum type="romanUcPeriod" startAt="99999999999999"/></a:pPr><a:r><a:t>x</a:t></a:r></a:p>' * 50_000 + "</p:txBody></p:sp>"),
    "links.xlsx": lambda _: cell_links("<hyperlinks>" + '<hyperlink ref="A1" r:id="a"/>' * 300_000 + "</hyperlinks>"),
    "links-unclosed.xlsx": lambda _: cell_links("<!-- " + "<hyperlink " * 500_000 + "-->"),
    "last-cell.xlsx": lambda _: sheet('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', '<dimension ref="A1:XFD1048576"/>'),
    "outside-cell.xlsx": lambda _: sheet('<row r="99999999999"><c r="ZZZZZZZ99999999999"><v>1</v></c></row>'),
    "wrong-string.xlsx": lambda _: sheet('<row r="1"><c r="A1" t="s"><v>999999999</v></c></row>'),
    "columns.xlsx": lambda _: sheet('<row r="1">' + "".join("<c><v>1</v></c>" for _ in range(300_000)) + "</row>"),
    "rows.xlsx": lambda _: sheet("".join(f'<row r="{n}"><c><v>1</v></c></row>' for n in range(1, 200_000))),
    "formulas.xlsx": lambda _: sheet('<row r="1">' + "<c><f>" + "(" * 100_000 + "</f><v>1</v></c></row>"),
    "dates.xlsx": lambda _: sheet('<row r="1"><c t="d"><v>99999-99-99</v></c><c t="n"><v>1e999</v></c><c t="e"><v>#REF!</v></c></row>'),
    "strings.xlsx": lambda _: rezipped(xlsx(), xl__sharedStrings_dot_xml=f'<sst xmlns="{SHEET}">' + "<si><t>x</t></si>" * 500_000 + "</sst>"),
    "sheets.xlsx": lambda _: rezipped(xlsx(), xl__workbook_dot_xml=f'<workbook xmlns="{SHEET}" xmlns:r="{TYPES}"><sheets>'
                                      + "".join(f'<sheet name="{n}" sheetId="{n}" r:id="rId1"/>' for n in range(1, 20_000)) + "</sheets></workbook>"),
    "styles.xlsx": lambda _: rezipped(xlsx(), xl__styles_dot_xml=f'<styleSheet xmlns="{SHEET}"><cellXfs>' + "<xf/>" * 300_000 + "</cellXfs></styleSheet>"),
    "one-chapter-often.epub": lambda _: book('<itemref idref="a"/>' * 200_000),
    "chapter-is-the-book.epub": lambda _: book('<itemref idref="a"/>', '<item id="a" href="book.opf"/>'),
    "missing-chapter.epub": lambda _: book('<itemref idref="zz"/>'),
    "outside-chapter.epub": lambda _: book('<itemref idref="a"/>', '<item id="a" href="../../../../etc/passwd"/>'),
    "no-container.epub": lambda _: epub(**{"META-INF/container.xml": "<container/>"}),
    "container-is-itself.epub": lambda _: epub(**{"META-INF/container.xml": '<container><rootfile full-path="META-INF/container.xml"/></container>'}),
    "xxe-chapter.epub": lambda _: epub(XXE),
    "laughs-book.epub": lambda _: epub(**{"OPS/book.opf": LAUGHS}),
    "deep-chapter.epub": lambda _: epub("<div>" * 300_000),
}  # fmt: skip
