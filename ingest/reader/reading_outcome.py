"""The outcome that the child process reports to its parent about a file. Pure."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from knowledge.texts.reading import Reading

# Characters of an extracted text: as many as the longest text that can be uploaded with the default settings.
MAX_TEXT_CHARACTERS: Final = 25 * 1024 * 1024
MAX_TEXT_BYTES: Final = 4 * MAX_TEXT_CHARACTERS
MAX_PICTURE_BYTES: Final = 50 * 1024 * 1024
MAX_THUMBNAIL_BYTES: Final = 1024 * 1024
# A page of noise, which compresses worst, is smaller.
MAX_PAGE_PICTURE_BYTES: Final = 2 * 1024 * 1024


class PagePicture(Struct, frozen=True):
    """A picture of a page that has no text. page: its number, from 1."""

    page: int
    width_px: int
    height_px: int


def page_picture_name(page: int | str) -> str:
    """Return the name of the picture's file beside the outcome. `page`: a number, or "*" for all."""
    return f"page-{page}.jpg"


class Outcome(Struct, frozen=True, omit_defaults=True):
    """The outcome of reading a file. error: a code of chat/protocol/errors.py, or empty.

    has_text, has_picture: there is a file `text` or `picture`, and with a picture also `thumbnail`.
    tokens_by_encoding: for the installed encodings except the default.
    notes_length: length of the reader's notes at the beginning of the text, in characters.
    reading: its shown_pages are counted when the pictures are stored.  page_pictures: as in ReadText; each has a file.
    content_type: empty if it is that of the upload.  title, published: of a web page; empty if unknown.
    """

    error: str = ""
    kind: Literal["text", "image", "tabular"] = "text"
    content_type: str = ""
    has_text: bool = False
    token_count: int = 0
    notes_length: int = 0
    reading: Reading = Reading()
    page_pictures: Sequence[PagePicture] = ()
    tokens_by_encoding: dict[str, int] = {}
    has_picture: bool = False
    width_px: int | None = None
    height_px: int | None = None
    title: str = ""
    published: str = ""


class ReadText(NamedTuple):
    """The result of a reader. notes: sentences about the file, which models read above the text, and no search finds.

    page_pictures: pictures of the first of the unread pages.
    """

    text: str
    notes: Sequence[str] = ()
    reading: Reading = Reading()
    page_pictures: Sequence[PagePicture] = ()


class Unreadable(Exception):
    """The file cannot be read, and fails with this code."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def limits_code(content_type: str) -> str:
    """Return the error code for a file that exceeds the limits of its process."""
    return f"{_noun(content_type)}_limits"


def crash_code(content_type: str) -> str:
    """Return the error code for a file that its library cannot parse."""
    noun = _noun(content_type)
    return "document_corrupt" if noun == "archive" else f"{noun}_corrupt"


def _noun(content_type: str) -> str:
    if content_type.startswith("image/") and content_type != "image/svg+xml":
        return "image"
    return "archive" if content_type == "application/zip" else "document"


def storable(text: str) -> str:
    """Remove NUL from a text, and replace lone surrogates: Postgres stores neither."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
