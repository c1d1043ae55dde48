"""Reads the text of PDF documents page by page with pdfium. For pages that are pictures, OCR recognises it, if set up.

A form feed stands between two pages, and nowhere else, so that the page number of a passage can be counted.
"""

import re
from pathlib import Path
from typing import Final

import pypdfium2
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_PAGEOBJ_IMAGE

from ingest.reader.reading_outcome import MAX_TEXT_CHARACTERS, ReadText, Unreadable
from ingest.reader.scans import PageDrawer, PageRecogniser

MAX_PAGES: Final = 5_000
_PAGE_BREAK: Final = "\n\f\n"
# A hyphen at the end of a line as pdfium returns it, which depends on the drawn character, and the character after it.
_HYPHEN: Final = re.compile(r"(?:[\x02\ufffe]\n?|[\u2010\xad]\n)(.?)")


def read(path: Path) -> ReadText:
    document = _open(path)
    recogniser, drawer = PageRecogniser(path.parent), PageDrawer(path.parent)
    pages: list[str] = []
    unread: list[int] = []
    recognised: list[int] = []
    characters = 0
    for number, page in enumerate(document, 1):
        text = _text_of(page)
        if not text and _shows_picture(page):
            text = recogniser.recognise(page)
            (recognised if text else unread).append(number)
            if not text:
                drawer.draw(page, number)
        page.close()
        characters += len(text)
        if characters > MAX_TEXT_CHARACTERS:
            raise Unreadable("document_limits")
        pages.append(text)
    # Not stripped at the beginning, because pages without text count.
    text = _PAGE_BREAK.join(pages).rstrip()
    return ReadText(text if text.strip() else "", _notes(unread, recognised), len(unread), drawer.drawn)


def _notes(unread: list[int], recognised: list[int]) -> list[str]:
    notes = []
    if unread:
        notes.append(f"[Pictures without text, perhaps scanned, of which no text follows: {_ranges(unread)}]")
    if recognised:
        notes.append(f"[Text recognised in pictures, which may have mistakes: {_ranges(recognised)}]")
    return notes


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
    return _joined(text).replace("\f", "\n").strip()


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
