"""Zip archives, and documents based on them: checked as a whole before anything in them is read."""

import stat
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from ingest.reader.reading_outcome import MAX_TEXT_CHARACTERS, Unreadable
from ingest.reader.text import check_xml, decode_with_note, looks_like_xml
from knowledge.files.file_types import detect_type

MAX_ENTRIES: Final = 10_000
# The unpacked size of all entries together.
MAX_UNPACKED_BYTES: Final = 200 * 1024 * 1024
# An archive that unpacks to more than this ratio is a bomb, unless the result is small.
MAX_RATIO: Final = 100
SMALL_BYTES: Final = 10 * 1024 * 1024
_ARCHIVES: Final = (
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x28\xb5\x2f\xfd",
)
# Folders of Office documents for embedded documents, which are not opened.
_EMBEDDED: Final = ("word/embeddings/", "ppt/embeddings/", "xl/embeddings/")
_OLE: Final = b"\xd0\xcf\x11\xe0"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_HEAD: Final = 512
_IS_UTF8: Final = 0x800  # a flag of names


def open_checked(path: Path, *, xml_with_doctype: Collection[str] | None = ()) -> zipfile.ZipFile:
    """Open an archive, and check that it is small when unpacked, without archives, unsafe names and unsafe XML in it.

    xml_with_doctype: endings of names of XML files that may have a document type and errors; None: XML is not checked.
    Raises Unreadable.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Unreadable("document_encrypted" if _is_encrypted(path) else "document_corrupt") from None
    entries = archive.infolist()
    _check_sizes(entries, path.stat().st_size)
    for entry in entries:
        _check_entry(entry)
    for entry in entries:
        if not entry.is_dir():
            _check_content(archive, entry, xml_with_doctype)
    return archive


def read_texts(path: Path) -> str:
    """Read the names of all entries, and the content of those that are text."""
    parts, characters = [], 0
    with open_checked(path, xml_with_doctype=None) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        parts.append("\n".join(map(_name, entries)))
        for entry in entries:
            text = _text(entry.filename, archive.read(entry))
            characters += len(text)
            if characters > MAX_TEXT_CHARACTERS:
                raise Unreadable("archive_limits")
            if text:
                parts.append(f"{_name(entry)}\n\n{text}")
    return "\n\n".join(parts)


def _name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry. Many programs write UTF-8 without its flag, which `zipfile` reads as of DOS."""
    if entry.flag_bits & _IS_UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def _text(name: str, content: bytes) -> str:
    """Return the text of an entry; empty if its content is binary."""
    if not content or not detect_type(name, content).is_text:
        return ""
    try:
        return decode_with_note(content)
    except Unreadable:  # text is only its beginning
        return ""


def _is_encrypted(path: Path) -> bool:
    """Return whether this is an encrypted Office document: a container of the older format (OLE)."""
    with path.open("rb") as content:
        return content.read(4) == _OLE and _ENCRYPTED in content.read()


def _check_sizes(entries: Collection[zipfile.ZipInfo], packed_bytes: int) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    is_bomb = unpacked > SMALL_BYTES and unpacked > MAX_RATIO * packed_bytes
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED_BYTES or is_bomb:
        raise Unreadable("archive_limits")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename.replace("\\", "/")
    leads_outside = name.startswith("/") or ".." in name.split("/") or name[1:2] == ":" or "\x00" in name
    if leads_outside or stat.S_ISLNK(entry.external_attr >> 16):
        raise Unreadable("archive_unsafe")
    if entry.flag_bits & 1:
        raise Unreadable("document_encrypted")


def _check_content(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, xml_with_doctype: Collection[str] | None
) -> None:
    try:
        with archive.open(entry) as content:
            head = content.read(_HEAD)
            if head.startswith(_ARCHIVES) and not entry.filename.startswith(_EMBEDDED):
                raise Unreadable("archive_limits")
            if xml_with_doctype is not None and looks_like_xml(head):
                is_html = entry.filename.lower().endswith(tuple(xml_with_doctype))
                check_xml(head + content.read(), allows_doctype=is_html, is_lenient=is_html)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
        raise Unreadable("document_corrupt") from None
