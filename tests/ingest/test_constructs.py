"""No construct of a document loses its words, or their order: each of the files holds one."""

from pathlib import Path

import pytest

from ingest.reader import file_reader
from knowledge.files.file_types import detect_type
from tests.ingest import construct_office as office
from tests.ingest import construct_pages as pages
from tests.ingest import documents
from tests.ingest.construct_words import Quality, Words, compare

# As a whole: the libraries that make documents take half a second to import.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

# What is left out on purpose; the decision on reading files says so.
LEFT_OUT = {"alternative text", "alternative text, formula, drawing", "form", "text boxes added from below"}
CASES = [
    *[("a.docx", office.word, name) for name in office.WORD],
    *[("a.pptx", office.slides, name) for name in office.SLIDES],
    *[
        ("a.html", lambda name, words: pages.page(pages.HTML[name], words).encode(), name)
        for name in pages.HTML
    ],
    *[("a.eml", pages.mail, name) for name in pages.MAILS if "program" not in name and name != "signed"],
]


def extracted(folder: Path, name: str, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    file_reader.read(detect_type(name, content).content_type, folder)
    return (folder / "text").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "make", "construct"),
    [pytest.param(*case, id=f"{case[0]} {case[2]}") for case in CASES if case[2] not in LEFT_OUT],
)
def test_every_word_is_read_in_its_order(tmp_path: Path, name: str, make, construct: str) -> None:
    words = Words(construct)
    text = extracted(tmp_path, name, make(construct, words))
    number = len(words.order)
    quality = compare(words.order, text)
    assert quality == Quality(number, number, number, quality.added), text
    assert quality.added <= 2 * text.count("Slide ") + 3, text


def test_a_note_is_found_by_its_mark(tmp_path: Path) -> None:
    text = extracted(tmp_path, "a.docx", office.word("footnote, endnote", Words("notes")))
    assert "[^2][^e2]\n\n[^2]: " in text
    assert "\n\n[^e2]: " in text


def test_cells_of_documents_are_whole(tmp_path: Path) -> None:
    """Forms and letters are often laid out by tables: only those of workbooks are previews."""
    words = Words("long")

    def make(document: object, words: Words) -> None:
        document.add_table(1, 1).cell(0, 0).text = words(300)  # type: ignore[attr-defined]

    text = extracted(tmp_path, "a.docx", office.saved_word(make, words))
    assert compare(words.order, text) == Quality(300, 300, 300, 0)


def test_what_was_deleted_or_moved_away_is_not_read(tmp_path: Path) -> None:
    text = extracted(tmp_path, "a.docx", office.word("tracked changes", Words("changes")))
    assert "never" not in text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        pytest.param(("exam-", "ple"), "example", id="a divided word is whole"),
        pytest.param(("Nord-", "Sued"), "Nord-Sued", id="a hyphen before a capital stays"),
        pytest.param(("well-known",), "well-known", id="a hyphen within a line stays"),
    ],
)
def test_hyphens_at_the_end_of_a_line_of_a_pdf(tmp_path: Path, lines: tuple[str, ...], text: str) -> None:
    assert extracted(tmp_path, "a.pdf", documents.pdf(") Tj 0 -14 Td (".join(lines))) == text


def test_mails_in_mails_end(tmp_path: Path) -> None:
    mail = b"Subject: innermost\r\n\r\nabc"
    for number in range(9):
        head = f"Subject: s{number}\r\nContent-Type: multipart/mixed; boundary=b{number}\r\n\r\n--b{number}\r\n".encode()
        mail = head + b"Content-Type: message/rfc822\r\n\r\n" + mail + f"\r\n--b{number}--\r\n".encode()
    text = extracted(tmp_path, "a.eml", mail)
    assert [f"s{number}" in text for number in range(9)] == [number > 3 for number in range(9)]
