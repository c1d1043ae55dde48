"""Who is at the other end of a socket, by session cookie or API token, and whether that still holds.

Synchronous but for the look at the headers; the socket's code calls it in threads.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie
from django.http.request import split_domain_port, validate_host
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from rest_framework.exceptions import AuthenticationFailed

from chat.models.sql.statements import Statement


class _ValidToken(NamedTuple):
    digest: str


# What knox looks at, without its search by prefix: the whole token was compared when the socket opened.
# Parameters: digest, user. Plan: knox's index of digest, primary key of auth_user.
_HOLDS: Final = Statement(
    """
    SELECT token.digest FROM knox_authtoken AS token JOIN auth_user AS owner ON owner.id = token.user_id
    WHERE token.digest = %(digest)s AND owner.id = %(user)s AND owner.is_active
        AND (token.expiry IS NULL OR token.expiry > STATEMENT_TIMESTAMP())
    """,
    _ValidToken,
)

_SessionStore: Final[Any] = import_module(settings.SESSION_ENGINE).SessionStore


class Credentials(NamedTuple):
    """What a handshake carried. A token goes before a cookie."""

    token: str = ""
    session_key: str = ""

    @property
    def are_given(self) -> bool:
        return bool(self.token or self.session_key)

    def user(self) -> Any:
        """The active user they stand for now; None if they stand for nobody (any more)."""
        return _user_of_token(self.token) if self.token else _user_of_session(self.session_key)

    def still_stand_for(self, user: Any) -> bool:
        """Whether user() would answer `user` now; asked for every command."""
        if self.token:
            return _HOLDS.first(digest=hash_token(self.token), user=user.pk) is not None
        now = self.user()
        return now is not None and now.pk == user.pk


def credentials(headers: Iterable[tuple[bytes, bytes]]) -> Credentials:
    found = _by_name(headers)
    scheme, _, token = found.get("authorization", "").partition(" ")
    if scheme.lower() == "token":
        return Credentials(token=token.strip())
    cookies = parse_cookie(found.get("cookie", ""))
    return Credentials(session_key=cookies.get(settings.SESSION_COOKIE_NAME, ""))


def is_same_host(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether no other site's page opened this socket: browsers always send Origin and never forge it."""
    found = _by_name(headers)
    host = found.get("host", "").lower()
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    origin = found.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _user_of_token(token: str) -> Any:
    try:
        user, _ = TokenAuthentication().authenticate_credentials(token.encode())
    except AuthenticationFailed:
        return None
    return user


def _user_of_session(session_key: str) -> Any:
    if not session_key:
        return None
    request = HttpRequest()
    request.session = _SessionStore(session_key)
    user = get_user(request)
    return user if user.is_authenticated and user.is_active else None
