"""Scanned pages are recognised by Tesseract where the operator has set OCR; what stays unread is said."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from ingest import child, ocr
from tests.instance import ROOT

without_tesseract = pytest.mark.skipif(not shutil.which("tesseract"), reason="Tesseract is not installed")


class Held:
    """A file as its worker has it."""

    pk = UUID(int=0)
    content_type = "application/pdf"

    def extend_lease(self) -> bool:
        return True


def scan(*lines: str) -> bytes:
    """A PDF of pictures, one with each line."""
    from PIL import Image, ImageDraw, ImageFont

    pages = []
    for line in lines:
        page = Image.new("L", (1240, 1754), "white")
        ImageDraw.Draw(page).text((120, 200), line, "black", ImageFont.load_default(48))
        pages.append(page)
    target = io.BytesIO()
    pages[0].save(target, "PDF", resolution=150, save_all=True, append_images=pages[1:])
    return target.getvalue()


def read(folder: Path, content: bytes) -> tuple[Any, str]:
    """The outcome, and the text."""
    (folder / "content").write_bytes(content)
    outcome = child.read_in_child(Held(), folder)  # type: ignore[arg-type]
    assert outcome.error == "", outcome
    return outcome, (folder / "text").read_bytes().decode()


def test_without_ocr_the_pages_are_counted_and_named_in_a_note(tmp_path: Path) -> None:
    outcome, text = read(tmp_path, scan("Low water at nine", "High water at three"))
    assert text == "[Pictures without text, perhaps scanned, of which no text follows: pages 1-2]"
    assert (outcome.reading.unread_pages, outcome.notes_length) == (2, len(text))


@pytest.mark.full
@without_tesseract
def test_each_scanned_page_is_recognised_and_a_blank_one_stays_unread(tmp_path: Path) -> None:
    with override_settings(OCR="eng"):
        outcome, text = read(tmp_path, scan("Low water at nine", "", "High water at three"))
    first, blank, last = text[outcome.notes_length :].split("\f")
    assert first.strip() == "Low water at nine"
    assert blank.strip() == ""
    assert last.strip() == "High water at three"
    assert text.startswith("[Pictures without text, perhaps scanned, of which no text follows: page 2]")
    assert "[Text recognised in pictures, which may have mistakes: pages 1, 3]" in text
    assert outcome.reading.unread_pages == 1
    assert not (tmp_path / "page.png").exists()


@pytest.mark.full
@without_tesseract
def test_a_language_that_is_not_installed_is_named() -> None:
    with override_settings(OCR="eng"):
        assert ocr.find_problem() == ""
    with override_settings(OCR="eng+xx"):
        assert ocr.find_problem() == "names languages that Tesseract does not have here: xx"


def test_ingest_does_not_start_without_the_program_that_ocr_needs(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": str(tmp_path), "OCR": "eng", "SECRET_KEY": "x" * 64}
    started = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "config.ingest_app", "report"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert started.returncode == 78
    assert "OCR: needs the program tesseract, which is not installed" in started.stderr
