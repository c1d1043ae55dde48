"""The names of uploaded files, and their types by their first bytes and names, without unpacking or parsing. Pure."""

import unicodedata
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, NamedTuple

MAX_CHARACTERS: Final = 255
UNNAMED: Final = "file"
# In characters; a longer ending is not an extension.
_MAX_EXTENSION: Final = 20
# Scripts such as Persian need these two to be spelled right.
_JOINERS: Final = "\u200c\u200d"


def clean_name(name: str) -> str:
    """Return the last part of a path, without unprintable characters and those that change the direction of text.

    A longer name is cut to MAX_CHARACTERS, and keeps its extension.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(_shown(character) for character in unicodedata.normalize("NFC", last))
    cleaned = " ".join(printable.split()).strip(". ") or UNNAMED
    return cleaned if len(cleaned) <= MAX_CHARACTERS else _cut(cleaned)


def extension(name: str) -> str:
    """Return the extension in lower case, without its dot; empty if there is none."""
    return PurePosixPath(name).suffix.lower().removeprefix(".")


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if character in _JOINERS or category[0] not in "CZ":
        return character
    return " " if category[0] == "Z" or character in "\t\n\r" else ""


def _cut(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _MAX_EXTENSION:
        return name[:MAX_CHARACTERS]
    return stem[: MAX_CHARACTERS - len(ending) - 1].rstrip() + dot + ending


# The first bytes of a file decide; `%PDF-` may stand anywhere within the first 1024.
HEAD_BYTES: Final = 64 * 1024


class Family(StrEnum):
    """Kinds of content that can be told apart by their first bytes."""

    TEXT = "text"
    PDF = "pdf"
    ZIP = "zip"  # and formats based on it: Office documents, EPUB
    OLE = "ole"  # old Office documents, and new ones that are encrypted
    IMAGE = "image"
    OTHER = "other"  # programs, sound, films and all other binary content


class DetectedType(NamedTuple):
    """The type of a file. mismatch: the content contradicts the name."""

    content_type: str
    mismatch: bool = False

    @property
    def is_image(self) -> bool:
        """Whether the file is a raster image; SVG is text."""
        return self.content_type in IMAGES.values()

    @property
    def is_text(self) -> bool:
        return self.content_type.startswith("text/") or self.content_type in _TEXTS.values()


RTF: Final = "application/rtf"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_ZIPPED: Final = {
    "docx": _OFFICE + "wordprocessingml.document",
    "xlsx": _OFFICE + "spreadsheetml.sheet",
    "pptx": _OFFICE + "presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "zip": "application/zip",
}
_TEXTS: Final = {
    "txt": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "eml": "message/rfc822",
    "mht": "message/rfc822",
    "mhtml": "message/rfc822",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "rtf": RTF,
    "css": "text/css",
    "js": "text/javascript",
    "py": "text/x-python",
}
# Extensions of other texts, which count as plain text.
_PLAIN: Final = frozenset(
    """
    bash bat c cc cfg clj cmake conf cpp cs dart diff dockerfile ex go gradle graphql h hpp hs ini
    java jl jsonl jsx kt less lock log lua m makefile patch php pl properties proto ps1 r rb rs rst
    sass scala scss sh sql srt swift tex toml ts tsx vb vtt vue yaml yml zig
    """.split()  # noqa: SIM905  a list of one word a line is longer than this file may be
)
# Content types of pictures, by extension.
IMAGES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "avif": "image/avif",
}
_SIGNATURES: Final[tuple[tuple[bytes, Family, str], ...]] = (
    (b"PK\x03\x04", Family.ZIP, "application/zip"),
    (b"PK\x05\x06", Family.ZIP, "application/zip"),
    (b"PK\x07\x08", Family.ZIP, "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Family.OLE, "application/x-ole-storage"),
    (b"{\\rtf", Family.TEXT, RTF),  # whatever its name is: its control words are not text
    (b"%PDF-", Family.PDF, "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", Family.IMAGE, "image/png"),
    (b"\xff\xd8\xff", Family.IMAGE, "image/jpeg"),
    (b"GIF87a", Family.IMAGE, "image/gif"),
    (b"GIF89a", Family.IMAGE, "image/gif"),
    (b"II*\x00", Family.IMAGE, "image/tiff"),
    (b"MM\x00*", Family.IMAGE, "image/tiff"),
    (b"MZ", Family.OTHER, "application/vnd.microsoft.portable-executable"),
    (b"\x7fELF", Family.OTHER, "application/x-elf"),
    (b"\xcf\xfa\xed\xfe", Family.OTHER, "application/x-mach-binary"),
    (b"\xca\xfe\xba\xbe", Family.OTHER, "application/java-vm"),
    (b"\x00asm", Family.OTHER, "application/wasm"),
    (b"\x1f\x8b", Family.OTHER, "application/gzip"),
    (b"BZh", Family.OTHER, "application/x-bzip2"),
    (b"\xfd7zXZ\x00", Family.OTHER, "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", Family.OTHER, "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", Family.OTHER, "application/vnd.rar"),
)
# Signatures that consist of letters: a text may begin with them as well.
_LETTERS: Final = (b"MZ", b"BZh")
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def extension_for(content_type: str) -> str:
    """Return the extension of a type whose content alone does not tell it; empty for others."""
    endings = (ending for ending, named in (_ZIPPED | _TEXTS).items() if named == content_type)
    return next(endings, "")


def detect_type(name: str, head: bytes) -> DetectedType:
    """Detect the type of a file. `head`: its first HEAD_BYTES. With an unknown extension, the content alone decides."""
    family, by_content = _family(head[:HEAD_BYTES])
    ending = extension(name)
    expected = _expected(ending)
    if expected is None:
        return DetectedType(by_content)
    if expected is Family.PDF and b"%PDF-" in head[:1024]:
        return DetectedType("application/pdf")
    if expected is Family.ZIP and family is Family.OLE and ending not in ("zip", "epub"):
        return DetectedType(_ZIPPED[ending])
    if expected is not family:
        return DetectedType(by_content, mismatch=True)
    return DetectedType(by_content if by_content == RTF else _named(ending) or by_content)


def _expected(ending: str) -> Family | None:
    if ending == "pdf":
        return Family.PDF
    if ending in _ZIPPED:
        return Family.ZIP
    if ending in IMAGES:
        return Family.IMAGE
    return Family.TEXT if ending in _TEXTS or ending in _PLAIN else None


def _named(ending: str) -> str:
    """Return the type that an extension stands for; empty for pictures, whose content names the format."""
    return _ZIPPED.get(ending) or _TEXTS.get(ending) or ("text/plain" if ending in _PLAIN else "")


def _family(head: bytes) -> tuple[Family, str]:
    for signature, family, content_type in _SIGNATURES:
        if head.startswith(signature) and not (signature in _LETTERS and _is_text(head)):
            return family, content_type
    return _detect_by_inner_signature(head) or (
        (Family.TEXT, "text/plain") if _is_text(head) else (Family.OTHER, "application/octet-stream")
    )


def _detect_by_inner_signature(head: bytes) -> tuple[Family, str] | None:
    """Detect formats whose signature does not stand at the beginning, or is too short to be reliable."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Family.IMAGE, "image/webp"
    if head[4:8] == b"ftyp":
        is_picture = head[8:12] in (b"avif", b"avis")
        return (Family.IMAGE, "image/avif") if is_picture else (Family.OTHER, "video/mp4")
    if head.startswith(b"BM") and not _is_text(head):
        return Family.IMAGE, "image/bmp"
    return None


def _is_text(head: bytes) -> bool:
    """Return whether this is text: it has a UTF-16 byte order mark, or else no NUL and few control characters."""
    if head.startswith(_UTF16_MARKS):
        return True
    if b"\x00" in head:
        return False
    controls = sum(head.count(bytes([code])) for code in range(32) if code not in (7, 8, 9, 10, 12, 13, 27))
    return controls * 100 <= len(head)
