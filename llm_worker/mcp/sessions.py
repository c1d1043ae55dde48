"""Tells by an answer over HTTP whether the server has forgotten the session of the request. Pure.

The protocol has 404 for that (2025-11-25, Transports, Session Management). Servers answer 400, 410 or 500 as well, or an
error in a 200.
"""

import json
import re
from http import HTTPStatus
from typing import Any, Final

# Of an answer, in which the error is looked for.
MAX_ERROR_BYTES: Final = 16 * 1024
_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_FORGOTTEN: Final = re.compile(
    r"session[^.]{0,80}\b(not found|unknown|invalid|missing|expired|required|(no longer|does not|doesn't) exist)"
    r"|not initiali[sz]ed|before initiali[sz]ation"
    r"|\b(no|unknown|invalid|missing|expired|stale)\b[^.]{0,40}\bsession",
    re.IGNORECASE,
)
_MEMBERS: Final = {"result", "method"}


def forgets_session(status: int, head: bytes) -> bool:
    """Return whether the answer says so, in which case nothing was executed. head: the beginning of its body.

    A status of 200 counts with an error alone: a result may have anything to do with sessions.
    """
    text = head.decode("utf-8", "replace")
    answer = _json(text)
    if status < HTTPStatus.BAD_REQUEST:
        return _says(answer) if isinstance(answer, dict) and not answer.keys() & _MEMBERS else False
    if isinstance(answer, dict) and _code(answer) is not None:
        # With a status of its own, or of the protocol's error, such as a method that is not known.
        return _says(answer)
    return status in _GONE or bool(_FORGOTTEN.search(text))


def _says(answer: dict[str, Any]) -> bool:
    error = answer.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return isinstance(message, str) and bool(_FORGOTTEN.search(message))


def _code(answer: dict[str, Any]) -> Any:
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _json(text: str) -> Any:
    """Parse a body: JSON, or the first event of a stream."""
    if not text.lstrip().startswith("{"):
        text = "\n".join(line[5:] for line in text.splitlines() if line.startswith("data:"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
