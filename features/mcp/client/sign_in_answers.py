"""Asks the servers of a sign-in, and reads their answers in one form: JSON without empty members. Knows no rows.

Some issuers answer with a form unless they are asked for JSON (GitHub), or in any case; others write members that are
optional as empty texts, numbers as texts, and scopes as lists. The SDK refuses a whole answer for one of them.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx2

from features.mcp.client.http import redirect_target

Send = Callable[[httpx2.Request], Awaitable[httpx2.Response]]

_FORM: Final = "application/x-www-form-urlencoded"
_OF_BODY: Final = frozenset({"content-type", "content-length", "content-encoding"})
_NUMBERS: Final = ("expires_in", "client_id_issued_at", "client_secret_expires_at")


async def ask(request: httpx2.Request, send: Send) -> httpx2.Response:
    """Send a request of a sign-in, which asks for JSON; return the answer, as JSON if it is an object or a form."""
    request.headers.setdefault("Accept", "application/json")
    response = await send(request)
    response.request = request
    members = members_of(response)
    if members is None:
        return response
    headers = {name: value for name, value in response.headers.items() if name not in _OF_BODY}
    return httpx2.Response(response.status_code, headers=headers, json=members, request=request)


def members_of(response: httpx2.Response) -> dict[str, Any] | None:
    """Return the members of an answer in their normal form; None: it has none."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        read = dict(parse_qsl(response.text)) if kind == _FORM else response.json()
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    members = {name: value for name, value in read.items() if value not in (None, "")}
    for name in _NUMBERS:
        if name in members and (number := _whole(members.pop(name))) is not None:
            members[name] = number
    if isinstance(scope := members.get("scope"), list):
        members["scope"] = " ".join(map(str, scope))
    return members


def moved(response: httpx2.Response) -> str:
    """Return the sentence that names where an answer redirects to; empty: nowhere. No redirect is followed."""
    location = response.headers.get("location", "")
    if not (location and HTTPStatus.MULTIPLE_CHOICES <= response.status_code < HTTPStatus.BAD_REQUEST):
        return ""
    asked = redirect_target(response.request.url, "")
    return f"{asked} redirects to {redirect_target(response.request.url, location)}."


def _whole(value: Any) -> int | None:
    """Return a number of seconds; None: it is none."""
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
