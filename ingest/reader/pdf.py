"""Reads the text of PDF documents page by page with pdfium, and what stands beside it: fields, notes, stamps, comments.

For pages that are pictures, OCR recognises the text, if set up.

A form feed stands between two pages, and nowhere else, so that the page number of a passage can be counted.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_PAGEOBJ_IMAGE

from ingest.reader.pdf_lines import RTL_LETTER, text_by_place
from ingest.reader.reading_outcome import MAX_TEXT_CHARACTERS, ReadText, Unreadable
from ingest.reader.scans import PageDrawer, PageRecogniser
from knowledge.texts.reading import Reading

# Of a document.
_MAX_ANNOTATIONS: Final = 20_000
# Of a field that offers a choice.
_MAX_OPTIONS: Final = 1_000
_UNSEEN: Final = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD: Final = 1 << 13  # a flag of text fields
# Annotations that viewers draw as text on the page. Others are comments, or have no text of their own.
_DRAWN: Final = (pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP)
_SILENT: Final = (pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_WATERMARK)
_CHOICES: Final = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_BOXES: Final = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
# States of boxes.
_NOT_TICKED: Final = ("", "off")
_TICKED: Final = ("yes", "on", "1", "true")

_TextOf = Callable[[pypdfium2.PdfPage], str]


class _Annotation(NamedTuple):
    place: int
    subtype: int
    text: str


class Annotations:
    """The annotations of a document, which are read page by page. are_left_out: there were too many."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        """Prepare to read. The object is closed before the document."""
        # Not with PdfDocument.init_forms, after which pdfium draws all fields of a page when it is opened: 20,000 take
        # more than a minute.
        self._config = pdfium.FPDF_FORMFILLINFO(version=2)
        self._form = pdfium.FPDFDOC_InitFormFillEnvironment(document, self._config)
        self._document = document
        self._remaining = _MAX_ANNOTATIONS
        self.are_left_out = False

    def close(self) -> None:
        if self._form:
            pdfium.FPDFDOC_ExitFormFillEnvironment(self._form)

    def texts(self, page: pypdfium2.PdfPage, number: int, text_of: _TextOf) -> list[str]:
        """Return the texts of the annotations of a page, and change the page: only drawn ones remain, as parts of it.

        `text_of`: reads the text of a page.
        """
        annotations: list[_Annotation] = []
        for annotation in _visible(page, self._form):
            if not self._remaining:
                self.are_left_out = True
                break
            self._remaining -= 1
            annotations.append(annotation)
        # A field may have several places on a page.
        fields = dict.fromkeys(each.text for each in annotations if each.subtype == pdfium.FPDF_ANNOT_WIDGET)
        drawn = [each for each in annotations if each.subtype in _DRAWN]
        others = (*_DRAWN, pdfium.FPDF_ANNOT_WIDGET)
        comments = [
            f"Comment: {each.text}" for each in annotations if each.subtype not in others and each.text
        ]
        notes = self._drawn_texts(page, number, drawn, text_of) if drawn else []
        return [part for part in ("\n".join(filter(None, fields)), *notes, *comments) if part]

    def _drawn_texts(
        self, page: pypdfium2.PdfPage, number: int, drawn: list[_Annotation], text_of: _TextOf
    ) -> Iterator[str]:
        """Yield the texts that viewers draw, which pdfium knows once they are parts of the page."""
        own = text_of(page)
        places = {each.place for each in drawn}
        for index in reversed(range(pdfium.FPDFPage_GetAnnotCount(page))):
            if index not in places:
                pdfium.FPDFPage_RemoveAnnot(page, index)
        pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
        changed = self._document[number - 1]
        whole = text_of(changed)
        changed.close()
        text = whole.removeprefix(own).strip() if whole.startswith(own) else ""
        yield text
        words = "".join(text.split())
        yield from (each.text for each in drawn if "".join(each.text.split()) not in words)


def _visible(page: pypdfium2.PdfPage, form: Any) -> Iterator[_Annotation]:
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        subtype = pdfium.FPDFAnnot_GetSubtype(annotation)
        if subtype not in _SILENT and not pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
            yield _Annotation(index, subtype, _text(annotation, subtype, form))
        pdfium.FPDFPage_CloseAnnot(annotation)


def _text(annotation: Any, subtype: int, form: Any) -> str:
    if subtype != pdfium.FPDF_ANNOT_WIDGET:
        return _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
    return _field(annotation, form) if form else ""


def _field(annotation: Any, form: Any) -> str:
    """Return the name of a field with its value; empty if it has no value."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    # The name for people, and the one for programs.
    names = (
        _string(read, form, annotation)
        for read in (pdfium.FPDFAnnot_GetFormFieldAlternateName, pdfium.FPDFAnnot_GetFormFieldName)
    )
    name = next(filter(None, names), "")
    if kind in _BOXES:
        return _box(annotation, name, kind)
    if kind in _CHOICES:
        value = ", ".join(_chosen(annotation, form))
    elif (
        kind != pdfium.FPDF_FORMFIELD_TEXTFIELD
        or pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD
    ):
        return ""
    else:
        value = ""
    value = value or _string(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    return f"{name}: {value}" if value else ""


def _box(annotation: Any, name: str, kind: int) -> str:
    """Return whether a box is ticked, by the state that is drawn, which tells boxes of the same name apart."""
    state = _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS")
    if state.casefold() in _NOT_TICKED:
        return f"[ ] {name}" if kind == pdfium.FPDF_FORMFIELD_CHECKBOX else ""
    return f"[x] {name}" if state.casefold() in _TICKED else f"[x] {name}: {state}"


def _chosen(annotation: Any, form: Any) -> Iterator[str]:
    for index in range(min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), _MAX_OPTIONS)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, index):
            yield _string(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, index)


def _string(read: Callable[..., int], *arguments: Any) -> str:
    """Return a string that pdfium writes as UTF-16 with a zero at its end."""
    size = read(*arguments, None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    read(*arguments, buffer, size)
    text = bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


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
