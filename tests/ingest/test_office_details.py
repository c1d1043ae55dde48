"""What Office documents show beside plain text: formulas, symbols, cells that were never computed."""

# ruff: noqa: RUF001  signs of formulas

from pathlib import Path

import pytest

from ingest.reader import file_reader
from ingest.reader.word import symbol
from tests.ingest import documents

pytestmark = [pytest.mark.pure, pytest.mark.slow]

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
WORD, EXCEL = (
    f"application/vnd.openxmlformats-officedocument.{kind}"
    for kind in ("wordprocessingml.document", "spreadsheetml.sheet")
)


def extracted(folder: Path, content_type: str, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    file_reader.read(content_type, folder)
    return (folder / "text").read_text(encoding="utf-8")


def word(paragraph: str) -> bytes:
    body = f"<w:document {NAMES}><w:body><w:p>{paragraph}</w:p></w:body></w:document>"
    return documents.rezipped(documents.docx(), word__document_dot_xml=body)


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


X, TWO = run("x"), run("2")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        pytest.param(f"{run('E=m')}<m:sSup><m:e>{run('c')}</m:e><m:sup>{TWO}</m:sup></m:sSup>", "E=mc^{2}", id="a power"),
        pytest.param(f"<m:f><m:fPr/><m:num>{X}</m:num><m:den>{TWO}</m:den></m:f>", r"\frac{x}{2}", id="a fraction"),
        pytest.param(f"<m:rad><m:radPr/><m:deg/><m:e>{X}</m:e></m:rad>", r"\sqrt{x}", id="a root"),
        pytest.param(f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{X}</m:sub><m:sup>{TWO}</m:sup><m:e>{X}</m:e></m:nary>', "∑_{x}^{2} x", id="a sum"),
        pytest.param(f'<m:d><m:dPr><m:begChr m:val="["/></m:dPr><m:e>{X}</m:e><m:e>{TWO}</m:e></m:d>', "[x|2)", id="brackets"),
        pytest.param(f"<m:m><m:mr><m:e>{X}</m:e><m:e>{TWO}</m:e></m:mr><m:mr><m:e>{TWO}</m:e><m:e>{X}</m:e></m:mr></m:m>", r"\begin{matrix}x & 2 \\ 2 & x\end{matrix}", id="a matrix"),
        pytest.param(f"<m:borderBox><m:e>{X}</m:e></m:borderBox>", "x", id="what has no form here"),
    ],
)  # fmt: skip
def test_formulas_of_word_stand_where_they_are(tmp_path: Path, formula: str, text: str) -> None:
    paragraph = f"<w:r><w:t>So </w:t></w:r><m:oMathPara><m:oMath>{formula}</m:oMath></m:oMathPara><w:r><w:t> ends.</w:t></w:r>"
    assert extracted(tmp_path, WORD, word(paragraph)) == f"So {text} ends."


def test_symbols_of_word_are_characters(tmp_path: Path) -> None:
    assert (
        extracted(
            tmp_path, WORD, word('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> done</w:t></w:r>')
        )
        == "✓ done"
    )
    assert [symbol(*each) for each in (("Symbol", "F061"), ("Arial", "00e4"), ("Other", "F0FC"), ("Symbol", "z"))] == [
        "α", "ä", "\ufffd", "\ufffd",
    ]  # fmt: skip


def test_cells_that_were_never_computed_show_their_formula(tmp_path: Path) -> None:
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.active.append(["day", "metres", "twice"])
    workbook.active.append(["Monday", 4, "=B2*2"])
    text = extracted(tmp_path, EXCEL, documents.saved(workbook.save))
    assert text.split("\n")[1:] == ["day | metres | twice", "Monday | 4 | =B2*2"]


def test_a_formula_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "content").write_bytes(word("<m:oMath>" + "<m:e>" * 5_000 + "</m:e>" * 5_000 + "</m:oMath>"))
    file_reader.read(WORD, tmp_path)
    assert b"document_" in (tmp_path / "outcome.json").read_bytes()
