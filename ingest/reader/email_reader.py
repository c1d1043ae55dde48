"""Reads emails and pages that are saved as one file (MHTML): sender, recipients, date, subject, texts, attachments."""

import email
import email.policy
import re
from email.errors import InvalidHeaderDefect
from email.message import EmailMessage
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from ingest.reader.html import visible_text
from ingest.reader.text import decode

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
# The nesting of attached messages, and of parts.
_MAX_DEPTH: Final = 5
_MAX_LEVELS: Final = 50
# Parts of a message that are read.
_MAX_PARTS: Final = 1_000
_LEFT_OUT: Final = "[Further parts of this message are left out]"
_CALENDAR: Final = "text/calendar"
_TEXTS: Final = ("text/plain", "text/html", "application/xhtml+xml")
# Texts for programs.
_NO_TEXTS: Final = ("text/css", "text/javascript", "text/rtf")
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_ESCAPE: Final = re.compile(r"\\([nN,;\\])")
# Of a calendar, properties for programs. Time zones and alarms are blocks of properties.
_UNSHOWN: Final = re.compile(
    r"(?:BEGIN|END|VERSION|PRODID|CALSCALE|UID|DTSTAMP|SEQUENCE|CREATED|LAST-MODIFIED|TRANSP|CLASS|X-[\w-]+)[:;]",
    re.IGNORECASE,
)
_UNSHOWN_BLOCKS: Final = ("VTIMEZONE", "VALARM")


class _Content(NamedTuple):
    """What parts of a message have. calendars: not among the texts, of which they are no alternative."""

    texts: list[str]
    calendars: list[str]
    names: list[str]
    messages: list[EmailMessage]


def read(path: Path) -> str:
    with path.open("rb") as content:
        message = email.message_from_binary_file(content, policy=email.policy.default)
    return _message(message, 1)


def _message(message: EmailMessage, depth: int) -> str:
    """Read a message and the messages attached to it: many programs forward messages as attachments."""
    content = _PartReader().read(message, 1)
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    attached = [f"Attached: {', '.join(content.names)}"] if content.names else []
    texts = "\n\n".join([*content.texts, *dict.fromkeys(content.calendars)])
    parts = ["\n".join([*lines, *attached, "", texts]).strip()]
    if depth < _MAX_DEPTH:
        parts += [f"Attached message:\n{_message(each, depth + 1)}" for each in content.messages]
    return "\n\n".join(parts)


def _header(message: EmailMessage, name: str) -> str:
    """Return the value of a header, or its line as it was sent if it cannot be parsed."""
    raw = next((str(value) for key, value in message.raw_items() if key.casefold() == name.casefold()), None)
    if raw is None:
        return ""
    try:
        header = message[name]
        parsed = _one_line(header)
        is_invalid = any(isinstance(defect, InvalidHeaderDefect) for defect in header.defects)
    except Exception:  # noqa: BLE001  the library raises anything for a header that is malformed
        parsed, is_invalid = "", True
    # Of an invalid header, parts are missing. A line with encoded words is not for people.
    if parsed and "\ufffd" not in parsed and (not is_invalid or "=?" in raw):
        return parsed
    return _one_line(decode(raw.encode("utf-8", "surrogateescape")).text)


class _PartReader:
    """Reads the parts of a message."""

    def __init__(self) -> None:
        self._remaining = _MAX_PARTS

    def read(self, part: EmailMessage, level: int) -> _Content:
        self._remaining -= 1
        if self._remaining <= 0 or level > _MAX_LEVELS:
            return _Content([_LEFT_OUT] if self._remaining == 0 else [], [], [], [])
        kind = part.get_content_type()
        if kind == "message/rfc822":
            inner = part.get_payload()
            return _Content([], [], [], [each for each in inner if isinstance(each, EmailMessage)][:1])
        if part.is_multipart():
            return self._several(part, level)
        name = _one_line(part.get_filename() or "")
        is_attached = part.get_content_disposition() == "attachment"
        if kind == _CALENDAR:
            return _Content([], [_calendar(_text(part))], [name] if name else [], [])
        is_text = kind in _TEXTS or (kind.startswith("text/") and kind not in _NO_TEXTS and not name)
        if is_text and not is_attached:
            text = _text(part)
            return _Content([text] if text.strip() else [], [], [], [])
        return _Content([], [], [name or "unnamed"] if name or is_attached else [], [])

    def _several(self, part: EmailMessage, level: int) -> _Content:
        contents = [
            self.read(each, level + 1) for each in part.iter_parts() if isinstance(each, EmailMessage)
        ]
        texts = [content.texts for content in contents]
        kind = part.get_content_subtype()
        with_text = [each for each in texts if each]
        if kind == "alternative":
            # The last one is the richest (RFC 2046, 5.1.4).
            texts = with_text[-1:]
        elif kind == "related":
            # The first one is the page, the others are its frames and the like.
            texts = with_text[:1]
        return _Content(
            texts=list(chain.from_iterable(texts)),
            calendars=list(chain.from_iterable(content.calendars for content in contents)),
            names=list(chain.from_iterable(content.names for content in contents)),
            messages=list(chain.from_iterable(content.messages for content in contents)),
        )


def _text(part: EmailMessage) -> str:
    content = part.get_payload(decode=True)
    decoded = decode(content if isinstance(content, bytes) else b"", part.get_content_charset() or "")
    is_page = part.get_content_subtype() in ("html", "xhtml+xml")
    return decoded.with_note(visible_text(decoded.text) if is_page else decoded.text).strip()


def _calendar(source: str) -> str:
    """Return the properties of a calendar that people see, one per line."""
    lines: list[str] = []
    block = ""
    for line in _FOLD.sub("", source).splitlines():
        mark, _, name = line.strip().upper().partition(":")
        if mark == "BEGIN" and name in _UNSHOWN_BLOCKS:
            block = name
        elif mark == "END" and name == block:
            block = ""
        elif not block and line.strip() and not _UNSHOWN.match(line):
            lines.append(_ESCAPE.sub(lambda escape: "\n" if escape[1] in "nN" else escape[1], line))
    return "\n".join(lines)


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
