"""What a PDF shows beside its plain lines: fields, notes, comments, and words from right to left in their order."""

import unicodedata
from pathlib import Path

import pytest

from ingest.reader import file_reader
from ingest.reader.pdf_lines import is_rtl, logical
from tests.ingest import documents

pytestmark = [pytest.mark.pure, pytest.mark.slow]

FIXTURES = Path(__file__).parents[1] / "fixtures"
# The lines of right-to-left.pdf, as Chromium printed them: language, direction, text.
PRINTED = [
    ("ar", "rtl", "السعر النهائي هو 1250 يورو للوحدة."),
    ("ar", "rtl", "رقم العقد AB-77 مؤرخ 3 مايو."),
    ("he", "rtl", "המחיר הסופי הוא 1250 אירו ליחידה."),
    ("he", "rtl", "חוזה AB-77 מיום 3 במאי."),
    ("ar", "rtl", "السعر (الصافي) هو 1,250.50 يورو (شامل)."),
    ("ar", "rtl", "لا توجد رسوم، والسلام على الأحلام."),
    ("ar", "rtl", "الطلب رقم AB-77 من Acme Corp 15 في 2024-05-03 بنسبة 15% تقريبا."),
    ("ar", "rtl", "مُحَمَّدٌ كَتَبَ الدَّرْسَ ١٢٣ مرة."),
    ("he", "rtl", "חוזה (מס' 12) מיום 3/5/2024 בסך 1,250.50 ש\"ח [סופי]."),
    ("he", "rtl", "שָׁלוֹם עֲלֵיכֶם"),
    ("he", "rtl", "ראו https://example.org/a?b=1 לפרטים."),
    ("he", "rtl", "מחיר: 15% או $20 (כ-30)."),
    ("he", "rtl", "א) ראשון"),
    ("en", "ltr", "The word שלום עולם means hello (היי) world."),
    ("en", "ltr", "Order 12 of חברת הדגמה, 3 May."),
    ("he", "rtl", "החברה Acme Ltd. נוסדה ב-1999."),
    ("he", "rtl", "טלפון 03-1234567, פקס 03-7654321."),
    ("ar", "rtl", "من 10 إلى 20 عضو: 5-7."),
]


@pytest.fixture(autouse=True)
def much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts from the start of a process, which a reader has to itself."""
    monkeypatch.setattr("ingest.reader.pdf._PLACES_CPU_S", 100_000)


def extracted(folder: Path, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    file_reader.read("application/pdf", folder)
    return (folder / "text").read_text(encoding="utf-8")


def with_annotations(*annotations: str, text: str = "Form") -> bytes:
    """A page with annotations, which are the fields of the document as well. Object 900000 draws `Received`."""
    numbers = range(900_001, 900_001 + len(annotations))
    references = " ".join(f"{number} 0 R" for number in numbers)
    drawing = b"BT /F1 12 Tf 2 2 Td (Received) Tj ET"
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 99 20]/Resources<</Font<</F1 3 0 R>>>>/Length %d>>stream\n%s\nendstream"
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Annots[{references}]/Resources<</Font<</F1 3 0 R>>>>>>"
    bodies = {
        number: f"<</Type/Annot/Rect[9 9 99 29]/F 4{annotation}>>".encode()
        for number, annotation in zip(numbers, annotations, strict=True)
    }
    catalog = f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{references}]>>>>".encode()
    return documents.pdf(
        text, objects={1: catalog, 4: page.encode(), 900_000: form % (len(drawing), drawing), **bodies}
    )


def test_a_filled_form_is_read_with_its_values_notes_and_comments(tmp_path: Path) -> None:
    text = extracted(tmp_path, (FIXTURES / "form.pdf").read_bytes())
    assert text.split("\n\n")[1:] == [
        "applicant: Mara Zimtstern\namount: 48,250\n[x] agree",
        "Approved by Kilian Tann on 3 May",
        "Comment: Comment: check the amount again",
    ]


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        pytest.param("/Subtype/Widget/FT/Tx/T(f1[0])/TU(Family name)/V(Tann)", "Family name: Tann", id="the name for people"),
        pytest.param("/Subtype/Widget/FT/Tx/T(a)/V(two\\rlines)", "a: two\nlines", id="a value of two lines"),
        pytest.param("/Subtype/Widget/FT/Tx/T(a)", "", id="a field without a value"),
        pytest.param("/Subtype/Widget/FT/Tx/T(a)/V(secret)/Ff 8192", "", id="a password"),
        pytest.param("/Subtype/Widget/FT/Btn/T(agree)/V/Off/AS/Off", "[ ] agree", id="a box that is not ticked"),
        pytest.param("/Subtype/Widget/FT/Btn/Ff 32768/T(sex)/V/f/AS/f", "[x] sex: f", id="one of several buttons"),
        pytest.param("/Subtype/Widget/FT/Btn/Ff 32768/T(sex)/V/f/AS/Off", "", id="another of several buttons"),
        pytest.param("/Subtype/Widget/FT/Btn/T(send)/Ff 65536/V(x)", "", id="a button"),
        pytest.param("/Subtype/Widget/FT/Ch/Ff 131072/T(land)/Opt[[(de)(Germany)][(fr)(France)]]/V(fr)", "land: France", id="a choice"),
        pytest.param("/Subtype/Stamp/AP<</N 900000 0 R>>", "Received", id="a stamp"),
        pytest.param("/Subtype/FreeText/Contents(typed)", "typed", id="a note without a drawing"),
        pytest.param("/Subtype/FreeText/Contents(Received)/AP<</N 900000 0 R>>", "Received", id="a note with its drawing"),
        pytest.param("/Subtype/Highlight/Contents(why?)", "Comment: why?", id="a comment at marked words"),
        pytest.param("/Subtype/FreeText/Contents(unseen)/F 2", "", id="a hidden note"),
        pytest.param("/Subtype/Link/Contents(unseen)", "", id="a link"),
    ],
)  # fmt: skip
def test_an_annotation_is_read_as_viewers_show_it(tmp_path: Path, annotation: str, text: str) -> None:
    assert extracted(tmp_path, with_annotations(annotation)) == "\n\n".join(filter(None, ["Form", text]))


def test_a_document_with_too_many_annotations_says_that_some_are_left_out(tmp_path: Path) -> None:
    text = extracted(tmp_path, with_annotations(*["/Subtype/Text/Contents(no)"] * 20_001))
    assert text.startswith("[Further fields, notes and comments of this document are left out]")
    assert text.count("Comment: no") == 20_000


def test_lines_from_right_to_left_are_read_in_the_order_of_writing(tmp_path: Path) -> None:
    text = extracted(tmp_path, (FIXTURES / "right-to-left.pdf").read_bytes())
    lines = unicodedata.normalize("NFC", text).split("\n")
    assert lines == [unicodedata.normalize("NFC", line) for _, _, line in PRINTED]


@pytest.mark.parametrize(
    ("visual", "text"),
    [
        pytest.param(".וריא 1250", "1250 אירו.", id="a number at the beginning"),
        pytest.param("(ב) א", "א (ב)", id="brackets as they were written"),
        pytest.param("Say םולש to all", "Say שלום to all", id="a line from left to right"),
        pytest.param("٢٠٢٤-٢٠٢٠ ماع", "عام ٢٠٢٠-٢٠٢٤", id="a range of Arabic digits"),
        pytest.param("no letters", "no letters", id="nothing from right to left"),
    ],
)
def test_a_visual_line_becomes_a_written_one(visual: str, text: str) -> None:
    assert logical(list(visual), is_rtl(visual, page_is_rtl=False)) == text
