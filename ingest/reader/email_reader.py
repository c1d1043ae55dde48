"""Reads emails: sender, recipients, date, subject, text, and the names of attachments."""

import email
import email.policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final

from ingest.reader.html import visible_text
from ingest.reader.text import decode

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
# The nesting of attached messages.
_MAX_DEPTH: Final = 5


def read(path: Path) -> str:
    with path.open("rb") as content:
        message = email.message_from_binary_file(content, policy=email.policy.default)
    return _message(message, 1)


def _message(message: EmailMessage, depth: int) -> str:
    """Read a message and the messages attached to it: many programs forward messages as attachments."""
    lines = [f"{name}: {_one_line(message[name])}" for name in _HEADERS if message[name]]
    attachments = list(message.iter_attachments())
    inner = [each for each in attachments if each.get_content_type() == "message/rfc822"]
    names = [
        each.get_filename() or "unnamed"
        for each in attachments
        if each.get_content_type() != "message/rfc822"
    ]
    attached = [f"Attached: {', '.join(map(_one_line, names))}"] if names else []
    parts = ["\n".join([*lines, *attached, "", _text(message)]).strip()]
    if depth < _MAX_DEPTH:
        parts += [f"Attached message:\n{_message(each.get_content(), depth + 1)}" for each in inner]
    return "\n\n".join(parts)


def _text(message: EmailMessage) -> str:
    body = message.get_body(preferencelist=("plain", "html"))
    if body is None:
        return ""
    content = body.get_payload(decode=True)
    decoded = decode(content if isinstance(content, bytes) else b"", body.get_content_charset() or "")
    is_page = body.get_content_subtype() == "html"
    return decoded.with_note(visible_text(decoded.text) if is_page else decoded.text)


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
