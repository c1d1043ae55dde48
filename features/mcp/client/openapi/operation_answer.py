"""Turns the answer to a call of an operation into text for the model, and JSON for clients. Pure."""

import json
from codecs import getincrementaldecoder
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from chat.protocol.strict_json import measured_storable
from features.mcp.client.configuration import MAX_RESULT_CHARACTERS, Answer, CallFailed, CallLost, cut_result
from knowledge.texts.text_encodings import as_utf8

_MAX_ERROR: Final = 1_000


class Received(NamedTuple):
    """The answer of a server. content_type: the header.  is_cut: the answer is longer."""

    status: int
    content_type: str
    content: bytes
    is_cut: bool = False

    @property
    def kind(self) -> str:
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def text(self) -> str | None:
        """The content as text; None: it is no text."""
        charset = self.content_type.lower().partition("charset=")[2].strip(" \"'").partition(";")[0]
        text = as_utf8(self.content, charset)
        is_text = self.kind.startswith("text/") or self.kind.endswith(("json", "xml", "yaml", "javascript"))
        return text.decode("utf-8", "replace") if is_text or _is_utf8(text) else None


def read_answer(received: Received) -> Answer:
    """Convert an answer of the server. Raises CallFailed.
    Raises CallLost for a status of 500 or more: the server may have done something before it failed.
    """
    text = received.text
    if not 200 <= received.status < 300:
        problem = f"The server answered with status {_named(received.status)}{_excerpt(text)}"
        raise CallLost(problem) if received.status >= 500 else CallFailed(problem)
    if not received.content:
        return Answer(f"The server answered with status {_named(received.status)} and no content.")
    if text is None:
        kind = received.kind or "unknown type"
        return Answer(f"(A file of {_size(received)} bytes, {kind}, which cannot be shown here.)")
    is_json = received.kind == "application/json" or received.kind.endswith("+json")
    structured = _structured(text) if is_json and not received.is_cut else None
    return Answer(_shortened(text, is_cut=received.is_cut), structured=structured)


def _is_utf8(content: bytes) -> bool:
    """Return whether the content is text in UTF-8, even if it was cut off within a character."""
    try:
        getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _structured(text: str) -> dict[str, Any] | None:
    """Parse JSON; a value that is no object is wrapped, as the SDKs of MCP do. None: it is no JSON, or too long."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wrapped = value if isinstance(value, dict) else {"result": value}
    found, length = measured_storable(wrapped) or (None, 0)
    return found if length <= MAX_RESULT_CHARACTERS else None


def _shortened(text: str, *, is_cut: bool) -> str:
    """Cut a text off for the model. `is_cut`: the length of the whole answer is not known."""
    if is_cut:
        return f"{text[:MAX_RESULT_CHARACTERS]}\n\n(Cut off: the answer is longer.)"
    return cut_result(text)


def _excerpt(text: str | None) -> str:
    excerpt = " ".join((text or "")[:_MAX_ERROR].split())
    return f": {excerpt}" if excerpt else "."


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _size(received: Received) -> str:
    return f"more than {len(received.content)}" if received.is_cut else str(len(received.content))
