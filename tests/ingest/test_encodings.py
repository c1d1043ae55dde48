"""Files in the encodings that people's programs write are read as their writers see them; what was guessed is said."""

# ruff: noqa: RUF001  letters of other alphabets

import time
from pathlib import Path

import pytest

from ingest.reader import file_reader
from ingest.reader.text import decode
from knowledge.files.file_types import detect_type
from tests.ingest.documents import zipped

# Loading the models of chardet takes a second.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

RUSSIAN = "Договор подписан в мае и вступает в силу немедленно."
CHINESE = "合同编号：2024-001，甲方应于三十日内付款。"
JAPANESE = "会議は来週の月曜日に開催されます。資料を事前に送付してください。"
SENTENCES = {
    "gbk": CHINESE,
    "gb18030": CHINESE,
    "big5": "合約編號：2024-001，甲方應於三十日內付款。",
    "shift_jis": JAPANESE,
    "euc_jp": JAPANESE,
    "iso2022_jp": JAPANESE,
    "euc_kr": "회의는 다음 주 월요일에 열립니다. 자료를 미리 보내 주세요.",
    "cp1250": "Zażółć gęślą jaźń, proszę przesłać umowę do końca tygodnia.",
    "cp1251": RUSSIAN,
    "cp1252": "Die Verträge müssen bis zum Jahresende überprüft werden.",
    "cp1253": "Η σύμβαση υπογράφηκε τον Μάιο και ισχύει αμέσως.",
    "cp1254": "Sözleşme mayıs ayında imzalandı ve hemen yürürlüğe giriyor.",
    "cp1255": "החוזה נחתם במאי ונכנס לתוקף באופן מיידי.",
    "cp1256": "تم توقيع العقد في مايو ويدخل حيز التنفيذ فورا.",
    "koi8_r": RUSSIAN,
}
SHAPES = {"txt": "{}\n", "csv": 'id;text\n1;"{}"\n', "html": "<html><body><p>{}</p></body></html>"}


def extracted(folder: Path, name: str, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    file_reader.read(detect_type(name, content).content_type, folder)
    return (folder / "text").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("encoding", SENTENCES)
def test_the_encoding_of_a_text_is_found(tmp_path: Path, encoding: str, kind: str) -> None:
    sentence = SENTENCES[encoding]
    text = extracted(tmp_path, f"a.{kind}", SHAPES[kind].format(sentence).encode(encoding))
    assert sentence in text
    assert "which is a guess" in text.partition("\n")[0]


def test_a_guess_names_the_encoding_above_the_text(tmp_path: Path) -> None:
    text = extracted(tmp_path, "a.txt", RUSSIAN.encode("cp1251"))
    said = "[The file does not say in which encoding it is written. It was read as Windows-1251, which is a guess.]"
    assert text == f"{said}\n\n{RUSSIAN}"


def test_what_a_file_declares_is_no_guess(tmp_path: Path) -> None:
    page = (
        f'<!DOCTYPE html><html><head><meta charset="Shift_JIS"></head><body><p>{JAPANESE}</p></body></html>'
    )
    assert extracted(tmp_path, "a.html", page.encode("shift_jis")) == JAPANESE
    source = f'<?xml version="1.0" encoding="windows-1251"?><x>{RUSSIAN}</x>'
    assert extracted(tmp_path, "a.xml", source.encode("cp1251")) == source


def test_the_encoding_of_a_mail_is_that_of_its_head_or_else_of_its_page(tmp_path: Path) -> None:
    head = "Subject: x\r\nContent-Transfer-Encoding: 8bit\r\nContent-Type: text/html{}\r\n\r\n"
    page = f"<meta charset=euc-jp><p>{JAPANESE}</p>"
    for charset, encoding in (("; charset=shift_jis", "shift_jis"), ("", "euc_jp")):
        text = extracted(tmp_path, "a.eml", head.format(charset).encode() + page.encode(encoding))
        assert text == f"Subject: x\n\n{JAPANESE}"


def test_each_file_of_an_archive_has_an_encoding_of_its_own(tmp_path: Path) -> None:
    archive = zipped({"a.txt": RUSSIAN.encode("cp1251"), "b.txt": "Flut"})
    text = extracted(tmp_path, "a.zip", archive)
    assert RUSSIAN in text
    assert text.endswith("b.txt\n\nFlut")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + b"stream \x9c\xed\n" * 99, id="a PDF without zeros"),
        pytest.param("a.jpg", b"\xff\xd8\xff\xe0" + b"picture" * 99, id="a picture"),
        pytest.param("a.dat", b"tide\n" * 20_000 + b"\x00" * 9_000, id="binary behind its beginning"),
    ],
)  # fmt: skip
def test_binary_files_of_an_archive_are_named_only(tmp_path: Path, name: str, content: bytes) -> None:
    assert (
        extracted(tmp_path, "a.zip", zipped({name: content, "b.txt": "Flut"}))
        == f"{name}\nb.txt\n\nb.txt\n\nFlut"
    )


def test_a_text_in_utf_16_is_read_in_an_archive_too(tmp_path: Path) -> None:
    assert (
        extracted(tmp_path, "a.zip", zipped({"a.txt": RUSSIAN.encode("utf-16")}))
        == f"a.txt\n\na.txt\n\n{RUSSIAN}"
    )


def test_names_in_an_archive_are_utf_8_without_a_flag_too(tmp_path: Path) -> None:
    archive = zipped({"Größe.txt": "Flut"}).replace(b"\x14\0\0\x08", b"\x14\0\0\0")
    assert extracted(tmp_path, "a.zip", archive) == "Größe.txt\n\nGröße.txt\n\nFlut"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            b"tide " * 3_000_000 + RUSSIAN.encode("cp1251"), id="one word at the end of a long line"
        ),
        pytest.param(
            RUSSIAN.encode("cp1251") + b"\n" + b"tide\n" * 3_000_000, id="one line at the beginning"
        ),
        pytest.param((RUSSIAN + "\n").encode("cp1251") * 200_000, id="all of it"),
    ],
)
def test_a_guess_takes_little_of_a_long_text(content: bytes) -> None:
    began = time.process_time()
    assert RUSSIAN in decode(content).text
    # Of the 60 s that a reader has; measured: 0.1.
    assert time.process_time() - began < 5
