"""What the child process reads of each type, and how it refuses what attacks it. No database is needed."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chat.protocol.errors import FILE_ERRORS
from chat.transcript.tokens import count_tokens
from ingest.reader.file_reader import NO_TEXT
from tests.ingest import documents
from tests.ingest.documents import TIDES, docx, zipped
from tests.ingest.readings import Reading, start_with
from tests.preloaded import Preloaded

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def preloaded_reader() -> Iterator[Preloaded]:
    """Children that limit themselves as all do, and need not import anything."""
    with Preloaded("tests.ingest.warm_reader") as preloaded:
        yield preloaded


@pytest.fixture
def read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preloaded_reader: Preloaded
) -> Callable[[str, bytes], Reading]:
    start_with(monkeypatch, lambda _, module, *arguments: preloaded_reader.command(module, *arguments))
    return lambda name, content: Reading(tmp_path, name, content)


def test_a_fresh_interpreter_reads_a_file(tmp_path: Path) -> None:
    assert Reading(tmp_path, "a.docx", docx()).text == f"# Moon\n\n{TIDES}\n\nday | metres\nMonday | 4.2"


@pytest.mark.parametrize(
    ("name", "make", "expected"),
    [
        pytest.param("a.txt", lambda: b"Zwei Fluten, jeden Tag\r\n", "Zwei Fluten, jeden Tag\r\n", id="text as it is"),
        pytest.param("a.txt", lambda: "Fluten".encode("utf-16"), "Fluten", id="UTF-16"),
        pytest.param("a.md", lambda: b"# Moon\n", "# Moon\n", id="Markdown"),
        pytest.param("a.py", lambda: b"print('%PDF-')\n", "print('%PDF-')\n", id="code"),
        pytest.param("a.html", documents.HTML.encode, f"Tides\n\n# Moon\n\n{TIDES}", id="HTML without scripts"),
        pytest.param("a.pdf", lambda: documents.pdf(TIDES, "Second page."), f"{TIDES}\n\f\nSecond page.", id="PDF"),
        pytest.param("a.pdf", lambda: documents.pdf("", TIDES, "", ""), f"\n\f\n{TIDES}", id="PDF, its pages counted from an empty one"),
        pytest.param("a.pdf", lambda: documents.pdf("", ""), NO_TEXT, id="PDF without text"),
        pytest.param("a.docx", docx, f"# Moon\n\n{TIDES}\n\nday | metres\nMonday | 4.2", id="Word"),
        pytest.param("a.pptx", documents.pptx, f"Slide 1\nMoon\n{TIDES}\nSpeak slowly.", id="PowerPoint"),
        pytest.param("a.epub", documents.epub, f"Tides\n\n# Moon\n\n{TIDES}\n\nThe second chapter.", id="EPUB in its order"),
        pytest.param(
            "a.eml", documents.eml,
            f"From: Alice <alice@example.org>\nTo: bob@example.org\nSubject: Tides\nAttached: levels.bin\n\n{TIDES}",
            id="mail",
        ),
        pytest.param("a.zip", lambda: zipped({"a/b.txt": TIDES, "c.bin": b"\x00"}), f"a/b.txt\nc.bin\n\na/b.txt\n\n{TIDES}", id="zip"),
        pytest.param("a.xml", lambda: b"<!DOCTYPE x><x>1</x>", "<!DOCTYPE x><x>1</x>", id="XML"),
    ],
)  # fmt: skip
def test_the_text_of_a_document(
    read: Callable[[str, bytes], Reading], name: str, make: Callable[[], bytes], expected: str
) -> None:
    reading = read(name, make())
    assert reading.text == expected
    assert (reading.outcome.kind, reading.outcome.token_count) == ("text", count_tokens(expected))


@pytest.mark.parametrize(
    ("name", "make", "title"),
    [
        pytest.param("a.csv", lambda: b"day,metres\n" + b"Monday,4\n" * 200, "Table: 2 columns, 200 rows, of which the first 50 follow", id="CSV"),
        pytest.param("a.tsv", lambda: b"day\tmetres\nMonday\t4\n", "Table: 2 columns, 1 rows", id="TSV"),
        pytest.param("a.xlsx", lambda: documents.xlsx(200), "Sheet Levels: 2 columns, 200 rows, of which the first 50 follow", id="Excel"),
    ],
)  # fmt: skip
def test_tables_are_previews(
    read: Callable[[str, bytes], Reading], name: str, make: Callable[[], bytes], title: str
) -> None:
    reading = read(name, make())
    lines = reading.text.split("\n")
    assert (reading.outcome.kind, lines[0], lines[1]) == ("tabular", title, "day | metres")
    assert len(lines) <= 52


def many_sheets() -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    for number in range(60):
        workbook.create_sheet(f"Day {number}").append(["metres", *range(150 if number == 1 else 1)])
    return documents.saved(workbook.save)


def scanned_pdf() -> bytes:
    """Three pages, of which the first shows a picture alone, the second a text, and the third nothing."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 900001 0 R/Resources<</XObject<</X 900002 0 R>>>>>>"
    image = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\n\x00\nendstream"
    objects = {
        4: page,
        900001: b"<</Length 25>>stream\nq 600 0 0 700 0 0 cm /X Do Q\nendstream",
        900002: image,
    }
    return documents.pdf("", TIDES, "", objects=objects)


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        pytest.param("a.csv", lambda: b"a,b\n" + b"," * 999, "Table: 1,000 columns (the first 100 follow), 1 rows\n", id="columns"),
        pytest.param("a.csv", lambda: b"a,b\n" + b"x" * 600, "\n" + "x" * 500 + "…", id="the end of a cell"),
        pytest.param("a.xlsx", many_sheets, "\n\nFurther sheets, which are not shown: Day 49, Day 50", id="sheets"),
        pytest.param("a.xlsx", many_sheets, "Sheet Day 1: 151 columns (the first 100 follow)", id="columns of a sheet"),
        pytest.param("a.pdf", scanned_pdf, f"[Pictures without text, perhaps scanned, of which no text follows: page 1]\n\n\n\f\n{TIDES}", id="scanned pages"),
    ],
)  # fmt: skip
def test_what_a_text_leaves_out_is_said_in_it(
    read: Callable[[str, bytes], Reading], name: str, make: Callable[[], bytes], says: str
) -> None:
    assert says in read(name, make()).text


@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_picture_has_its_size(
    read: Callable[[str, bytes], Reading], tmp_path: Path, file_format: str
) -> None:
    from PIL import Image

    outcome = read(f"a.{file_format.lower()}", documents.picture(file_format)).outcome
    assert (outcome.error, outcome.kind, outcome.width_px, outcome.height_px) == ("", "image", 64, 48)
    with Image.open(tmp_path / "picture") as picture:
        assert (picture.size, Image.MIME[str(picture.format)]) == ((64, 48), outcome.content_type)


@pytest.mark.parametrize(("file_format", "unread"), [("TIFF", 2), ("GIF", 0), ("WEBP", 0)])
def test_pages_of_a_tiff_behind_the_first_are_unread_and_frames_of_a_film_are_no_pages(
    read: Callable[[str, bytes], Reading], file_format: str, unread: int
) -> None:
    from PIL import Image

    first, *others = (Image.new("L", (8, 8), level) for level in (0, 100, 200))
    content = io.BytesIO()
    first.save(content, file_format, save_all=True, append_images=others)
    assert read(f"a.{file_format.lower()}", content.getvalue()).outcome.reading.unread_pages == unread


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_a_picture_is_turned_upright_and_says_nothing_of_where_it_was_taken(
    read: Callable[[str, bytes], Reading], tmp_path: Path, file_format: str
) -> None:
    from PIL import Image

    taken = documents.picture_of_a_camera(file_format)
    assert b"SECRET-PLACE" in taken
    outcome = read(f"a.{file_format.lower()}", taken).outcome
    assert (outcome.width_px, outcome.height_px) == (48, 64)
    for name in ("picture", "thumbnail"):
        kept = (tmp_path / name).read_bytes()
        assert b"SECRET" not in kept
        assert b"Exif" not in kept
        with Image.open(tmp_path / name) as picture:
            assert picture.size == (48, 64)
            assert dict(picture.getexif()) == dict(picture.getexif().get_ifd(0x8825)) == {}


@pytest.mark.parametrize(
    ("mode", "size", "small"),
    [
        pytest.param("RGB", (1000, 500), (256, 128), id="broad"),
        pytest.param("RGB", (500, 1000), (128, 256), id="high"),
        pytest.param("RGB", (5000, 3), (256, 1), id="a line"),
        pytest.param("RGB", (256, 256), (256, 256), id="just small enough"),
        pytest.param("RGB", (20, 10), (20, 10), id="small"),
        *[
            pytest.param(mode, (600, 300), (256, 128), id=mode)
            for mode in ("L", "LA", "1", "P", "RGBA", "I;16")
        ],
    ],
)
def test_a_picture_has_a_small_copy(
    read: Callable[[str, bytes], Reading],
    tmp_path: Path,
    mode: str,
    size: tuple[int, int],
    small: tuple[int, int],
) -> None:
    from PIL import Image

    white = {"P": 255, "I;16": 65_535, "LA": (255, 128), "RGBA": (255, 255, 255, 128)}.get(mode, "white")
    grey = Image.linear_gradient("L").convert("P").getpalette() if mode == "P" else None
    source = Image.new(mode, size, white)
    if grey:
        source.putpalette(grey)
    assert read("a.png", documents.saved(lambda target: source.save(target, "PNG"))).outcome.error == ""
    with Image.open(tmp_path / "thumbnail") as copy:
        assert (copy.format, copy.size) == ("WEBP", small)
        assert copy.mode == ("RGBA" if "A" in mode else "RGB")
        pixel = copy.getpixel((0, 0))
        assert isinstance(pixel, tuple)
        assert all(level > 250 for level in pixel[:3])


def test_the_largest_picture_has_a_small_copy(read: Callable[[str, bytes], Reading]) -> None:
    most = documents.picture("PNG", (10_000, 5_000))
    outcome = read("a.png", most).outcome
    assert (outcome.error, outcome.width_px) == ("", 10_000)


def bomb(megabytes: int) -> bytes:
    return zipped({"a.txt": b"\x00" * megabytes * MEGABYTE})


BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a zip of zeros": ("a.zip", lambda: bomb(100), "archive_limits"),
    "a Word document of zeros": ("a.docx", lambda: documents.rezipped(docx(), word__x_dot_xml=b" " * 300 * MEGABYTE), "archive_limits"),
    "very many entries": ("a.zip", lambda: zipped({str(n): "" for n in range(20_000)}), "archive_limits"),
    "an archive in an archive": ("a.zip", lambda: zipped({"b.zip": zipped({"a": "b"})}), "archive_limits"),
    "an archive in a document": ("a.docx", lambda: documents.rezipped(docx(), word__b_dot_zip=zipped({"a": "b"})), "archive_limits"),
    "zip-slip": ("a.zip", lambda: zipped({"../../etc/cron.d/x": "x"}), "archive_unsafe"),
    "zip-slip with backslashes": ("a.zip", lambda: zipped({"..\\..\\x": "x"}), "archive_unsafe"),
    "an absolute name": ("a.epub", lambda: documents.epub(**{"/etc/x": "x"}), "archive_unsafe"),
    "zip-slip in a document": ("a.docx", lambda: documents.rezipped(docx(), **{"..__x": "x"}), "archive_unsafe"),
    "XXE in a Word document": ("a.docx", lambda: documents.rezipped(docx(), word__document_dot_xml=documents.XXE), "document_unsafe"),
    "XXE in UTF-16": ("a.docx", lambda: documents.rezipped(docx(), word__document_dot_xml=documents.XXE.encode("utf-16")), "document_unsafe"),
    "laughs in a Word document": ("a.docx", lambda: documents.rezipped(docx(), word__document_dot_xml=documents.LAUGHS), "document_unsafe"),
    "laughs in a presentation": ("a.pptx", lambda: documents.rezipped(documents.pptx(), ppt__presentation_dot_xml=documents.LAUGHS), "document_unsafe"),
    "laughs in a workbook": ("a.xlsx", lambda: documents.rezipped(documents.xlsx(), xl__workbook_dot_xml=documents.LAUGHS), "document_unsafe"),
    "laughs in a book": ("a.epub", lambda: documents.epub(**{"OPS/book.opf": documents.LAUGHS}), "document_unsafe"),
    "laughs in a chapter": ("a.epub", lambda: documents.epub(documents.LAUGHS), "document_unsafe"),
    "XXE": ("a.xml", documents.XXE.encode, "document_unsafe"),
    "laughs": ("a.svg", documents.LAUGHS.encode, "document_unsafe"),
    "laughs in broken XML": ("a.xml", (documents.LAUGHS + "<").encode, "document_unsafe"),
    "an encrypted PDF": ("a.pdf", documents.encrypted_pdf, "document_encrypted"),
    "an encrypted Word document": ("a.docx", lambda: documents.OLE + "EncryptedPackage".encode("utf-16-le"), "document_encrypted"),
    "an old Word document": ("a.docx", lambda: documents.OLE + b"\x00" * 512, "document_corrupt"),
    "a PDF of which only the beginning is there": ("a.pdf", lambda: b"%PDF-1.7\n" + b"\xff" * 1000, "document_corrupt"),
    "a PDF of 100,000 pages": ("a.pdf", lambda: documents.pdf(*["x"] * 100_000), "document_limits"),
    "a truncated Word document": ("a.docx", lambda: docx()[:-200], "document_corrupt"),
    "a zip that is no document": ("a.docx", lambda: zipped({"a.txt": "b"}), "document_corrupt"),
    "a picture of 50,000 by 50,000": ("a.png", lambda: documents.png_that_says(50_000, 50_000), "image_limits"),
    "a picture of 2^31 by 2": ("a.png", lambda: documents.png_that_says(2**31 - 1, 2), "image_limits"),
    "a picture that lies": ("a.png", lambda: documents.png_that_says(5_000, 5_000), "image_corrupt"),
    "a truncated picture": ("a.jpg", lambda: documents.picture(size=(500, 500))[:-400], "image_corrupt"),
    "a program": ("a.exe", lambda: documents.PROGRAM, "file_type_unsupported"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_fail_with_their_code(read: Callable[[str, bytes], Reading], case: str) -> None:
    name, make, code = BAD[case]
    reading = read(name, make())
    assert reading.outcome.error == code
    assert code in FILE_ERRORS
    assert reading.seconds < 90


def test_a_document_with_an_embedded_workbook_is_read(read: Callable[[str, bytes], Reading]) -> None:
    embedded = documents.rezipped(docx(), word__embeddings__a_dot_xlsx=documents.xlsx())
    assert TIDES in read("a.docx", embedded).text


def test_texts_are_counted_in_every_installed_encoding(read: Callable[[str, bytes], Reading]) -> None:
    text = "საქართველო არის ქვეყანა. " * 1_000
    outcome = read("a.txt", text.encode()).outcome
    assert outcome.token_count == count_tokens(text)
    assert outcome.tokens_by_encoding == {"o200k_base": count_tokens(text, "o200k_base")}
    assert outcome.tokens_by_encoding["o200k_base"] < outcome.token_count / 7
