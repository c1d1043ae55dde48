"""Authentication of a websocket by API token or session cookie, at the handshake and again for every command.

The functions that query the database are synchronous; the consumer calls them in threads.
"""

from collections.abc import Iterable
from datetime import datetime
from importlib import import_module
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest, parse_cookie
from django.http.request import split_domain_port, validate_host
from knox.crypto import hash_token
from rest_framework.exceptions import AuthenticationFailed

from chat.infrastructure import log_context
from chat.models import Scope, TokenScope
from chat.models.sql.statements import Statement
from chat.models.token_scope import token_id
from web.accounts import may_log_in
from web.rest.authentication import TokenAuthentication


class _ValidToken(NamedTuple):
    scope: str | None
    last_used_at: datetime | None


# knox's check without its search by prefix: the whole token was compared when the socket opened.
# Parameters: digest, user. Plan: knox's index of digest, primary keys of auth_user and chat_tokenscope.
_STILL_VALID: Final = Statement(
    """
    SELECT limited.scope, limited.last_used_at FROM knox_authtoken AS token JOIN auth_user AS owner ON owner.id = token.user_id
    LEFT JOIN chat_tokenscope AS limited ON limited.token_id = token.digest
    WHERE token.digest = %(digest)s AND owner.id = %(user)s AND owner.is_active
        AND (token.expiry IS NULL OR token.expiry > STATEMENT_TIMESTAMP())
    """,
    _ValidToken,
)

_SessionStore: Final[Any] = import_module(settings.SESSION_ENGINE).SessionStore


class HandshakeCredentials(NamedTuple):
    """The credentials of a handshake. A token takes precedence over a cookie."""

    token: str = ""
    session_key: str = ""

    def find_user(self) -> User | None:
        """Return the active user whose socket the credentials open now; None if there is none (any more)."""
        return _find_token_user(self.token) if self.token else _find_session_user(self.session_key)

    def still_identify(self, user: User) -> bool:
        """Return whether find_user() would return `user` now."""
        return self.find_scope(user) is not None

    def find_scope(self, user: User) -> Scope | None:
        """Return the scope that the credentials give `user` now; None if they do not identify the user.
        Called per command. What it does from now on, it does with the token.
        """
        if self.token:
            digest = hash_token(self.token)
            valid = _STILL_VALID.first(digest=digest, user=user.pk)
            if valid is None:
                return None
            TokenScope.objects.note_use(digest, valid.last_used_at)
            log_context.add_api_token(token_id(digest))
            return Scope(valid.scope or Scope.WRITE)
        current = self.find_user()
        return Scope.WRITE if current is not None and current.pk == user.pk else None


def read_credentials(headers: Iterable[tuple[bytes, bytes]]) -> HandshakeCredentials:
    if token := read_token(headers, "token"):
        return HandshakeCredentials(token=token)
    cookies = parse_cookie(_decode_headers(headers).get("cookie", ""))
    return HandshakeCredentials(session_key=cookies.get(settings.SESSION_COOKIE_NAME, ""))


def read_token(headers: Iterable[tuple[bytes, bytes]], scheme: str) -> str:
    """Return the token of this scheme, in lower case; empty if the handshake has none."""
    name, _, token = _decode_headers(headers).get("authorization", "").partition(" ")
    return token.strip() if name.lower() == scheme else ""


def is_same_origin(headers: Iterable[tuple[bytes, bytes]], scheme: str) -> bool:
    """Return whether Origin, if present, is this site's: browsers always send it and never forge it.

    scheme: the socket's, ws or wss. A page without TLS may come from anybody on the network, so it may not open a
    socket of a site with TLS. A page with TLS may open a socket that seems to have none, behind an untrusted proxy that
    ends TLS.
    """
    by_name = _decode_headers(headers)
    host = by_name.get("host", "").lower()
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    origin = by_name.get("origin")
    if origin is None:
        return True
    found = urlsplit(origin)
    has_plain_pages = scheme == "ws" and not settings.SECURE_SSL_REDIRECT
    schemes = ("http", "https") if has_plain_pages else ("https",)
    return found.netloc.lower() == host and found.scheme in schemes


def _decode_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _find_token_user(token: str) -> User | None:
    try:
        user, row = TokenAuthentication().authenticate_credentials(token.encode())
    except AuthenticationFailed:
        return None
    return user if row.scope_row.scope in TokenAuthentication.scopes else None


def _find_session_user(session_key: str) -> User | None:
    if not session_key:
        return None
    request = HttpRequest()
    request.session = _SessionStore(session_key)
    user = get_user(request)
    return user if user.is_authenticated and may_log_in(user) else None
