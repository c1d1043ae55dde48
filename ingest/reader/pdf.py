"""Reads the text of PDF documents, page by page, with pdfium."""

from pathlib import Path
from typing import Final

import pypdfium2
from pypdfium2.raw import FPDF_ERR_PASSWORD

from ingest.reader.outcome import MAX_TEXT_CHARACTERS, Unreadable

MAX_PAGES: Final = 5_000


def read(path: Path) -> str:
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code == FPDF_ERR_PASSWORD
        raise Unreadable("document_encrypted" if is_locked else "document_corrupt") from None
    if len(document) > MAX_PAGES:
        raise Unreadable("document_limits")
    if not len(document):
        raise Unreadable("document_corrupt")
    pages: list[str] = []
    characters = 0
    for page in document:
        text = page.get_textpage().get_text_bounded().replace("\r\n", "\n")
        page.close()
        characters += len(text)
        if characters > MAX_TEXT_CHARACTERS:
            raise Unreadable("document_limits")
        pages.append(text.strip())
    return "\n\n".join(pages).strip()
