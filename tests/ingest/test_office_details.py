"""What Office documents show beside plain text: formulas, symbols, cells that were never computed."""

# ruff: noqa: RUF001  signs of formulas

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.reader import file_reader
from ingest.reader.word import symbol
from tests.ingest import documents

pytestmark = [pytest.mark.pure, pytest.mark.slow]

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
WORD, EXCEL, SLIDES = (
    f"application/vnd.openxmlformats-officedocument.{kind}"
    for kind in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
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


def chart_of_gaps() -> tuple[str, Any]:
    from pptx.chart.data import CategoryChartData

    data = CategoryChartData(number_format="0.0%")
    data.categories = ["Jan", "Feb", "Mar"]
    data.add_series("Share", (0.155, None, 0.5))
    data.add_series("Rest", (None, 0.25, None))
    return "COLUMN_CLUSTERED", data


def chart_of_levels() -> tuple[str, Any]:
    from pptx.chart.data import CategoryChartData

    data = CategoryChartData()
    for year, quarters in (("2024", ("Q1", "Q2")), ("2025", ("Q1",))):
        category = data.add_category(year)
        for quarter in quarters:
            category.add_sub_category(quarter)
    data.add_series("Sales", (1, 2, 3))
    return "COLUMN_CLUSTERED", data


def chart_of_dates() -> tuple[str, Any]:
    from pptx.chart.data import CategoryChartData

    data = CategoryChartData()
    data.categories = [date(2026, 5, 3), date(2026, 5, 4)]
    data.add_series("Level", (4.2999999999999998, 5))
    return "LINE", data


def chart_of_points() -> tuple[str, Any]:
    from pptx.chart.data import XyChartData

    data = XyChartData()
    for name, points in (("Low", ((1, 4), (2, 5))), ("High", ((1, 7), (3, 8)))):
        series = data.add_series(name)
        for point in points:
            series.add_data_point(*point)
    return "XY_SCATTER", data


def chart_of_bubbles() -> tuple[str, Any]:
    from pptx.chart.data import BubbleChartData

    data = BubbleChartData()
    data.add_series("Towns").add_data_point(1, 4, 90)
    return "BUBBLE", data


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        pytest.param(chart_of_gaps, [" | Jan | Feb | Mar", "Share | 15.5% |  | 50.0%", "Rest |  | 25.0% | "], id="gaps and per cent"),
        pytest.param(chart_of_levels, [" | 2024 Q1 | 2024 Q2 | 2025 Q1", "Sales | 1 | 2 | 3"], id="categories of categories"),
        pytest.param(chart_of_dates, [" | 2026-05-03 | 2026-05-04", "Level | 4.3 | 5"], id="dates"),
        pytest.param(chart_of_points, [" | 1 | 2", "Low | 4 | 5", " | 1 | 3", "High | 7 | 8"], id="points"),
        pytest.param(chart_of_bubbles, [" | 1", "Towns | 4", "Towns (size) | 90"], id="bubbles"),
    ],
)  # fmt: skip
def test_values_of_a_chart_stand_below_their_categories(tmp_path: Path, make: Any, rows: list[str]) -> None:
    import pptx
    from pptx.enum.chart import XL_CHART_TYPE

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    kind, data = make()
    slide.shapes.add_chart(XL_CHART_TYPE[kind], 0, 0, 9_000_000, 5_000_000, data)
    text = extracted(tmp_path, SLIDES, documents.saved(presentation.save))
    assert text.split("\n")[1:] == rows
