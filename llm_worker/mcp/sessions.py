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
# A server that fails may have executed the call, and sessions of databases expire as well: there, the message begins so.
_BEGINNING: Final = re.compile(
    r"((error|bad request|not found|internal( server)? error): )?(mcp[ -])?"
    r"(session|(no|unknown|invalid|missing|expired|stale)( or \w+)?( valid)? (mcp[ -])?session)",
    re.IGNORECASE,
)
_MEMBERS: Final = {"result", "method"}
_TEXTS: Final = ("error", "message", "detail")


def forgets_session(status: int, head: bytes) -> bool:
    """Return whether the answer says so, in which case nothing was executed. head: the beginning of its body.

    A status of 200 counts with an error alone: a result may have anything to do with sessions.
    """
    text = head.decode("utf-8", "replace")
    answer = _json(text)
    if status < HTTPStatus.BAD_REQUEST:
        is_error = isinstance(answer, dict) and not answer.keys() & _MEMBERS
        return is_error and bool(_FORGOTTEN.search(_message(answer)))
    message = _message(answer) if isinstance(answer, dict) else text
    says_so = bool(_FORGOTTEN.search(message))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return says_so and bool(_BEGINNING.match(message.strip()))
    # A protocol's error with 404 may be about a method that is not known.
    is_about_session = status == HTTPStatus.GONE or (
        status == HTTPStatus.NOT_FOUND and not _is_error_of_protocol(answer)
    )
    return is_about_session or says_so


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    members = error if isinstance(error, dict) else answer
    return next((members[name] for name in _TEXTS if isinstance(members.get(name), str)), "")


def _is_error_of_protocol(answer: Any) -> bool:
    error = answer.get("error") if isinstance(answer, dict) else None
    return isinstance(error, dict) and "code" in error


def _json(text: str) -> Any:
    """Parse a body: JSON, or the first event of a stream."""
    if not text.lstrip().startswith("{"):
        text = "\n".join(line[5:] for line in text.splitlines() if line.startswith("data:"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
