"""Reads the text of PDF documents page by page with pdfium, and what stands beside it: fields, notes, comments.

For pages that are pictures, OCR recognises the text, if set up.

A form feed stands between two pages, and nowhere else, so that the page number of a passage can be counted.
"""

import re
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import pypdfium2
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_PAGEOBJ_IMAGE

from ingest.reader.bidi import RTL_LETTER
from ingest.reader.pdf_annotations import Annotations
from ingest.reader.pdf_lines import text_by_place
from ingest.reader.reading_outcome import MAX_TEXT_CHARACTERS, ReadText, Unreadable
from ingest.reader.scans import PageDrawer, PageRecogniser
from knowledge.texts.reading import Reading

MAX_PAGES: Final = 5_000
_PAGE_BREAK: Final = "\n\f\n"
_LEFT_OUT: Final = "[Further fields, notes and comments of this document are left out]"
# Processor time for the places of characters, of which a million takes 9 s. The limit of this process is 60 s.
_PLACES_CPU_S: Final = 40
# A hyphen at the end of a line as pdfium returns it, which depends on the drawn character, and the character after it.
_HYPHEN: Final = re.compile(r"(?:[\x02\ufffe]\n?|[\u2010\xad]\n)(.?)")


def read(path: Path) -> ReadText:
    document = _open(path)
    reader = _PageReader(document, path.parent)
    pages: list[str] = []
    characters = 0
    with closing(reader.annotations):
        for number, page in enumerate(document, 1):
            pages.append(reader.read(page, number))
            page.close()
            characters += len(pages[-1])
            if characters > MAX_TEXT_CHARACTERS:
                raise Unreadable("document_limits")
    # Not stripped at the beginning, because pages without text count.
    text = _PAGE_BREAK.join(pages).rstrip()
    reading = Reading(unread_pages=len(reader.unread))
    return ReadText(text if text.strip() else "", reader.notes(), reading, reader.drawer.drawn)


class _PageReader:
    """Reads the pages of a document. unread: the numbers of pages that are pictures without text."""

    def __init__(self, document: pypdfium2.PdfDocument, folder: Path) -> None:
        self.annotations = Annotations(document)
        self._recogniser = PageRecogniser(folder)
        self.drawer = PageDrawer(folder)
        self.unread: list[int] = []
        self._recognised: list[int] = []
        self._unordered: list[int] = []

    def read(self, page: pypdfium2.PdfPage, number: int) -> str:
        text = _text_of(page)
        if _is_late() and RTL_LETTER.search(text):
            self._unordered.append(number)
        if not text and _shows_picture(page):
            text = self._recogniser.recognise(page)
            (self._recognised if text else self.unread).append(number)
            if not text:
                self.drawer.draw(page, number)
        return "\n\n".join(filter(None, [text, *self.annotations.texts(page, number, _text_of)]))

    def notes(self) -> list[str]:
        sentences = {
            "Pictures without text, perhaps scanned, of which no text follows": self.unread,
            "Text recognised in pictures, which may have mistakes": self._recognised,
            "Text from right to left whose words may stand in another order": self._unordered,
        }
        notes = [f"[{sentence}: {_ranges(pages)}]" for sentence, pages in sentences.items() if pages]
        return [*notes, _LEFT_OUT] if self.annotations.are_left_out else notes


def _open(path: Path) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code == FPDF_ERR_PASSWORD
        raise Unreadable("document_encrypted" if is_locked else "document_corrupt") from None
    if len(document) > MAX_PAGES:
        raise Unreadable("document_limits")
    if not len(document):
        raise Unreadable("document_corrupt")
    return document


def _text_of(page: pypdfium2.PdfPage) -> str:
    text = page.get_textpage().get_text_bounded().replace("\r\n", "\n")
    if RTL_LETTER.search(text) and not _is_late():
        text = text_by_place(page)
    return _joined(text).replace("\f", "\n").strip()


def _is_late() -> bool:
    return time.process_time() > _PLACES_CPU_S


def _joined(text: str) -> str:
    """Join words that are divided at the end of a line.
    The hyphen stays if the second part does not begin with a small letter.
    """
    return _HYPHEN.sub(lambda found: found[1] if found[1].islower() else f"-{found[1]}", text)


def _shows_picture(page: pypdfium2.PdfPage) -> bool:
    return any(True for _ in page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _ranges(numbers: list[int]) -> str:
    """Format page numbers as `page 1` or `pages 1-3, 7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    listed = ", ".join("-".join(map(str, each)) for each in ranges)
    return f"page {listed}" if len(numbers) == 1 else f"pages {listed}"
