"""Reads one file by its type, counts its tokens, and writes the outcome."""

import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec import json

from ingest.reader.reading_outcome import (
    MAX_TEXT_CHARACTERS,
    Outcome,
    ReadText,
    Unreadable,
    crash_code,
    limits_code,
    storable,
)
from knowledge.files.reader_process import MAIN_TEXT

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OPEN: Final = "application/vnd.oasis.opendocument."
# The text of a file without any text, which would otherwise be empty.
NO_TEXT: Final = "[Nothing of this file follows: it has no text that can be read]"


class _Reader(NamedTuple):
    """The reader of a content type. function: of a module in this folder; it takes the path and returns the text."""

    module: str
    function: str = "read"
    kind: Literal["text", "tabular"] = "text"


# Readers by content type; all other texts are plain text.
_READERS: Final = {
    "application/pdf": _Reader("pdf"),
    _OFFICE + "wordprocessingml.document": _Reader("word"),
    _OFFICE + "presentationml.presentation": _Reader("slides"),
    _OFFICE + "spreadsheetml.sheet": _Reader("tables", "read_xlsx", "tabular"),
    _OPEN + "text": _Reader("opendocument"),
    _OPEN + "presentation": _Reader("opendocument", "read_slides"),
    _OPEN + "spreadsheet": _Reader("opendocument", "read_sheets", "tabular"),
    "application/rtf": _Reader("rtf"),
    "text/csv": _Reader("tables", "read_csv", "tabular"),
    "text/tab-separated-values": _Reader("tables", "read_csv", "tabular"),
    "application/epub+zip": _Reader("epub"),
    "application/zip": _Reader("zip_archive", "read_texts"),
    "message/rfc822": _Reader("email_reader"),
    "application/x-ipynb+json": _Reader("notebook"),
    "text/html": _Reader("html"),
    "application/xhtml+xml": _Reader("html"),
    "application/xml": _Reader("text", "read_xml"),
    "image/svg+xml": _Reader("text", "read_xml"),
    "application/json": _Reader("text"),
}


def read(content_type: str, folder: Path) -> None:
    """Read folder/content; write outcome.json and the files that it names."""
    outcome = _outcome(content_type, folder)
    (folder / "outcome.json").write_bytes(json.encode(outcome))


def _outcome(content_type: str, folder: Path) -> Outcome:
    try:
        if content_type.startswith("image/") and content_type not in _READERS:
            from ingest.reader.pictures import read_picture

            return read_picture(folder / "content", folder / "picture", folder / "thumbnail")
        if content_type == MAIN_TEXT:
            from ingest.reader.main_text import read_main_text

            return read_main_text(folder / "content", folder / "text")
        return _read_text(content_type, folder)
    except Unreadable as failure:
        return Outcome(error=failure.code)
    except (MemoryError, RecursionError):
        return Outcome(error=limits_code(content_type))
    except Exception:  # noqa: BLE001  libraries raise anything for a file that is damaged; the parent logs it
        traceback.print_exc()
        return Outcome(error=crash_code(content_type))


def _read_text(content_type: str, folder: Path) -> Outcome:
    reader = _READERS.get(content_type)
    if reader is None and content_type.startswith("text/"):
        reader = _Reader("text")
    if reader is None:
        raise Unreadable("file_type_unsupported")
    module = import_module(f"ingest.reader.{reader.module}")
    function: Callable[[Path], str | ReadText] = getattr(module, reader.function)
    read = function(folder / "content")
    found = ReadText(read) if isinstance(read, str) else read
    given = found.notes if found.notes or found.text.strip() else [NO_TEXT]
    notes = "".join(f"{note}\n\n" for note in given)
    text = (notes + storable(found.text)) if found.text.strip() else notes.rstrip()
    if len(text) > MAX_TEXT_CHARACTERS:
        raise Unreadable("document_limits")
    (folder / "text").write_bytes(text.encode())
    from chat.transcript.tokens import count_tokens, installed_encodings

    _, *others = installed_encodings()
    return Outcome(
        kind=reader.kind,
        has_text=True,
        token_count=count_tokens(text),
        tokens_by_encoding={name: count_tokens(text, name) for name in others},
        notes_length=min(len(notes), len(text)),
        reading=found.reading,
        page_pictures=found.page_pictures,
    )
