"""Codes of files whose text could not be extracted, with what people read. Pure.

Clients branch on the codes; renaming one breaks them, and rows that hold it.
"""

from typing import Final

FILE_ERRORS: Final[dict[str, str]] = {
    "file_type_unsupported": "Files of this type cannot be read.",
    "file_missing": "The content of the file is gone. Upload it again.",
    "content_missing": "The file was imported without its content. Upload it again.",
    "file_unreadable": "The file could not be read.",
    "document_corrupt": "The document is damaged, or is not what its name says.",
    "document_encrypted": "The document is protected by a password.",
    "document_limits": "The document is too large to be read.",
    "document_unsafe": "The document contains XML constructs that are not accepted.",
    "archive_limits": "The archive unpacks to too much, or holds further archives.",
    "archive_unsafe": "The archive holds names that lead outside of it.",
    "image_corrupt": "The picture is damaged.",
    "image_limits": "The picture has too many pixels.",
}


def file_error_message(code: str) -> str:
    return FILE_ERRORS.get(code, FILE_ERRORS["file_unreadable"])
