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
    "storage_full": "There is no room for the text of the file. Delete some chats or files first.",
    "too_many_chunks": "There is no room for more texts that are searched.",
    "url_scheme_blocked": "Only addresses that begin with http:// or https:// are read.",
    "url_address_blocked": "This address is not read: it does not lead to a public server, or has a port or a user name.",
    "url_unreachable": "The server of the address does not answer.",
    "too_many_redirects": "The address leads to others too often.",
    "response_too_large": "What the address leads to is too large.",
    "content_type_unsupported": "What the address leads to is not a text.",
    "http_error": "The server of the address answered with an error.",
    "timeout": "The server of the address took too long.",
    "tls_error": "The connection to the server of the address is not secure.",
}


def file_error_message(code: str) -> str:
    return FILE_ERRORS.get(code, FILE_ERRORS["file_unreadable"])
