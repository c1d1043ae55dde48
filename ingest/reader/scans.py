"""Draws pages that are pictures: for Tesseract, if the operator installs it (setting OCR), else for vision models.

https://tesseract-ocr.github.io/tessdoc/Command-Line-Usage.html
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pypdfium2

from ingest.reader.process_limits import end_with_parent
from ingest.reader.reading_outcome import MAX_PAGE_PICTURE_BYTES, PagePicture, page_picture_name
from knowledge.files.reader_process import OCR_FILE

# The resolution that Tesseract is made for.
_DPI: Final = 300
_POINTS_PER_INCH: Final = 72
# An A3 page at 300 dpi has 17 million; larger pages are drawn at a lower resolution.
_MOST_PIXELS: Final = 20_000_000
_PAGE_LIMIT_S: Final = 60
# For one file, from its first page on; the remaining pages stay unread. The parent waits longer (ingest/child.py).
_FILE_LIMIT_S: Final = 600
# Processor time for drawing in this process, whose limit is 60 s.
_DRAWING_CPU_S: Final = 45
# Pages of a file that models get. A page has up to 4,600 tokens by our estimate.
_MOST_SHOWN: Final = 10
# The longer side of such a page: an A4 page has 110 dpi, at which text of 9 points is legible.
_SHOWN_PX: Final = 1280
_JPEG_QUALITY: Final = 80


class PageDrawer:
    """Draws pages without recognised text, for vision models."""

    def __init__(self, folder: Path) -> None:
        """Prepare to draw pages of one file. `folder`: for the pictures."""
        self._folder = folder
        self.drawn: list[PagePicture] = []

    def draw(self, page: pypdfium2.PdfPage, number: int) -> None:
        """Draw a page, unless _MOST_SHOWN pages are drawn already or the time for the file is used up."""
        if len(self.drawn) == _MOST_SHOWN or time.process_time() > _DRAWING_CPU_S:
            return
        try:
            bitmap = page.render(scale=_SHOWN_PX / max(*page.get_size(), 1))
        except pypdfium2.PdfiumError as error:
            sys.stderr.write(f"page {number} is not drawn: {error}\n")
            return
        picture = bitmap.to_pil().convert("RGB")
        path = self._folder / page_picture_name(number)
        picture.save(path, "JPEG", quality=_JPEG_QUALITY)
        bitmap.close()
        if path.stat().st_size > MAX_PAGE_PICTURE_BYTES:
            path.unlink()
            return
        self.drawn.append(PagePicture(number, picture.width, picture.height))


class PageRecogniser:
    """Recognises text in the pages of one file."""

    def __init__(self, folder: Path) -> None:
        """Prepare to recognise pages of one file. `folder`: has OCR_FILE if OCR is on; gets pictures of pages."""
        self._picture = folder / "page.png"
        told = folder / OCR_FILE
        self._program, self._languages = told.read_text().splitlines() if told.exists() else ("", "")
        self._until = time.monotonic() + _FILE_LIMIT_S

    def recognise(self, page: pypdfium2.PdfPage) -> str:
        """Recognise the text of a page; empty if there is none, OCR is off, or the time for the file is used up."""
        is_late = time.monotonic() > self._until or time.process_time() > _DRAWING_CPU_S
        if not self._program or is_late:
            return ""
        self._draw(page)
        try:
            return self._run()
        finally:
            self._picture.unlink()

    def _draw(self, page: pypdfium2.PdfPage) -> None:
        width, height = page.get_size()
        scale = _DPI / _POINTS_PER_INCH
        scale = min(scale, (_MOST_PIXELS / max(width * height, 1)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        picture = bitmap.to_pil()
        picture.save(self._picture, dpi=(_DPI, _DPI))
        bitmap.close()

    def _run(self) -> str:
        command = [self._program, str(self._picture), "stdout", "-l", self._languages]
        # One thread, because other files are read at the same time.
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
        try:
            done = subprocess.run(  # noqa: S603  the operator's program, with our own arguments
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_PAGE_LIMIT_S, check=False, preexec_fn=end_with_parent,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            sys.stderr.write("a page took Tesseract too long\n")
            return ""
        if done.returncode:
            sys.stderr.write(f"Tesseract ended with {done.returncode}: {done.stderr[-500:]!r}\n")
            return ""
        return done.stdout.decode(errors="replace").replace("\f", "\n").strip()
