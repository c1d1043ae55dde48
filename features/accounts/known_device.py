"""The cookie that marks a browser in which a user has logged in, so that attacks on the user's name do not lock it out.

It is signed and names the user and the browser; it does not log anybody in (OWASP calls it a device cookie).
"""

import secrets
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase

COOKIE: Final = "known_device"
# A longer time would be as safe: a stolen cookie allows eight guesses at one password.
MAX_AGE_S: Final = 31_536_000
_SALT: Final = "features.accounts.known_device"


def read_device(request: HttpRequest, name: str) -> str | None:
    """Return the id of the browser if `name` has logged in there, else None."""
    try:
        known, device = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=MAX_AGE_S)
    except (signing.BadSignature, TypeError, ValueError):
        return None
    return str(device) if known == name else None


def remember_device(response: HttpResponseBase, name: str) -> None:
    """Set the cookie of a browser in which `name` has just logged in."""
    value = signing.dumps((name, secrets.token_urlsafe(12)), salt=_SALT)
    response.set_cookie(
        COOKIE, value, MAX_AGE_S, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )
