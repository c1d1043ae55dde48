"""Reads Word documents and presentations, in the order of their content."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from ingest.reader.archive import open_checked
from ingest.reader.tables import join_cells

MAX_HEADING_CHARACTERS: Final = 100


def read_docx(path: Path) -> str:
    open_checked(path).close()
    import docx

    document = docx.Document(str(path))
    return "\n\n".join(part for part in map(_block, document.iter_inner_content()) if part)


def read_pptx(path: Path) -> str:
    open_checked(path).close()
    import pptx

    slides = []
    for number, slide in enumerate(pptx.Presentation(str(path)).slides, 1):
        parts = [f"Slide {number}", *_shapes(slide.shapes)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            parts.append(slide.notes_slide.notes_text_frame.text)
        slides.append("\n".join(part for part in parts if part.strip()))
    return "\n\n".join(slides)


def _block(block: Any) -> str:
    """A paragraph, with the level of a heading, or a table."""
    if hasattr(block, "rows"):
        return "\n".join(join_cells(cell.text for cell in row.cells) for row in block.rows)
    text = str(block.text).strip()
    if len(text) > MAX_HEADING_CHARACTERS:  # to look for its style takes ten times as long as to read it
        return text
    style = (block.style.name if block.style is not None else "") or ""
    level = style.removeprefix("Heading ")
    return f"{'#' * int(level)} {text}" if text and level != style and level in "123456" else text


def _shapes(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield join_cells(cell.text for cell in row.cells)
        elif shape.has_text_frame:
            yield shape.text_frame.text
