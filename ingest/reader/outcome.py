"""What the child process tells its parent about a file. Pure."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

# Characters of an extracted text: those of the longest text that can be uploaded with the default settings.
MAX_TEXT_CHARACTERS: Final = 25 * 1024 * 1024
MAX_TEXT_BYTES: Final = 4 * MAX_TEXT_CHARACTERS
MAX_PICTURE_BYTES: Final = 50 * 1024 * 1024
MAX_THUMBNAIL_BYTES: Final = 1024 * 1024
# A page of noise, which compresses worst, has less.
MAX_PAGE_PICTURE_BYTES: Final = 2 * 1024 * 1024


class PagePicture(Struct, frozen=True):
    """A picture of a page that has no text. page: its number, from 1."""

    page: int
    width_px: int
    height_px: int


def page_picture_name(page: int | str) -> str:
    """Of the file beside the outcome. page: a number, or "*" for all."""
    return f"page-{page}.jpg"


class Outcome(Struct, frozen=True, omit_defaults=True):
    """error: a code of chat/protocol/file_errors.py, or empty.  has_text, has_picture: there is a file of this name,
    beside a picture its `thumbnail`.

    tokens_by_encoding: in those that are installed beside the default.  notes_length: characters at the beginning of the text
    that are notes of the reader.  unread_pages, page_pictures: as in ReadText; there is a file for each picture.
    content_type: empty if it is that of the upload.  title, published: of a page of the web, empty where unknown.
    """

    error: str = ""
    kind: Literal["text", "image", "tabular"] = "text"
    content_type: str = ""
    has_text: bool = False
    token_count: int = 0
    notes_length: int = 0
    unread_pages: int = 0
    page_pictures: Sequence[PagePicture] = ()
    tokens_by_encoding: dict[str, int] = {}
    has_picture: bool = False
    width_px: int | None = None
    height_px: int | None = None
    title: str = ""
    published: str = ""


class ReadText(NamedTuple):
    """notes: sentences of the reader about the file, which models read above the text, and no search finds.

    unread_pages: those that are pictures, of which there is no text.  page_pictures: of the first of them.
    """

    text: str
    notes: Sequence[str] = ()
    unread_pages: int = 0
    page_pictures: Sequence[PagePicture] = ()


class Unreadable(Exception):
    """The file cannot be read: ends with this code."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def limits_code(content_type: str) -> str:
    """The code of a file that needs more than its process may use."""
    return f"{_noun(content_type)}_limits"


def crash_code(content_type: str) -> str:
    """The code of a file that its library does not understand."""
    noun = _noun(content_type)
    return "document_corrupt" if noun == "archive" else f"{noun}_corrupt"


def _noun(content_type: str) -> str:
    if content_type.startswith("image/") and content_type != "image/svg+xml":
        return "image"
    return "archive" if content_type == "application/zip" else "document"
