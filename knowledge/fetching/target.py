"""Parses URLs into targets of requests, and refuses those never to be requested, whatever they resolve to. Pure."""

import re
import socket
from collections.abc import Collection
from ipaddress import ip_address
from typing import Final, NamedTuple, NoReturn
from urllib.parse import quote, urlsplit

import idna

from knowledge.fetching.public_addresses import is_public

MAX_URL_CHARACTERS: Final = 2_000
_MAX_HOST_CHARACTERS: Final = 253
_PORTS: Final = {"http": 80, "https": 443}
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# The last label of an IPv4 address in any spelling that the system's resolver accepts: 127.1, 0x7f000001,
# 017700000001.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SAFE: Final = "/%:@!$&'()*+,;=~-._"


class Target(NamedTuple):
    """The target of a request.
    host: lower case, without brackets; an ASCII name, or an address in its usual spelling.  path: including the query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def bracketed_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def origin(self) -> str:
        is_default = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{self.bracketed_host}" + ("" if is_default else f":{self.port}")

    @property
    def url(self) -> str:
        return self.origin + self.path

    def is_in(self, allowed: Collection[str]) -> bool:
        """Return whether the setting URL_ALLOWED_HOSTS (`allowed`) names this target, as `host` or `host:port`."""
        return self.bracketed_host in allowed or f"{self.bracketed_host}:{self.port}" in allowed


def parse_target(url: str, allowed: Collection[str]) -> Target:
    """Parse a URL. Raises UrlRefused. Allowed hosts may have any port and any address."""
    url = url.strip()
    if len(url) > MAX_URL_CHARACTERS:
        raise UrlRefused("url_address_blocked", "too long")
    try:
        parts = urlsplit(url)
        scheme, netloc, port, host = parts.scheme, parts.netloc, parts.port, parts.hostname or ""
    except ValueError:
        raise UrlRefused("url_address_blocked", "no URL") from None
    if scheme not in _PORTS:
        raise UrlRefused("url_scheme_blocked", scheme[:20])
    if "@" in netloc:
        raise UrlRefused("url_address_blocked", "with a user name")
    path = quote(parts.path or "/", safe=_SAFE, errors="surrogateescape")
    query = quote(parts.query, safe=f"{_SAFE}?", errors="surrogateescape")
    port = _PORTS[scheme] if port is None else port
    target = Target(scheme, _parse_host(host, netloc), port, f"{path}?{query}" if query else path)
    if not target.is_in(allowed):
        _check_public(target)
    return target


def _check_public(target: Target) -> None:
    if target.port not in _PORTS.values():
        raise UrlRefused("url_address_blocked", f"port {target.port}")
    if is_literal(target.host) and not is_public(target.host):
        raise UrlRefused("url_address_blocked", target.host)


def is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _parse_host(host: str, netloc: str) -> str:
    """Return the canonical host. Raises UrlRefused for an invalid host, and for an address with a zone."""
    if ":" in host or "[" in netloc:
        try:
            address = ip_address(host)
        except ValueError:
            _no_host("no address")
        return str(address) if "%" not in host else _no_host("with a zone")
    name = ascii_name(host)
    labels = name.split(".")
    if len(name) > _MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
        _no_host("no host")
    if not _NUMBER.fullmatch(labels[-1]):
        return name
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        _no_host("no address")


def ascii_name(host: str) -> str:
    """Convert a name to lower case and IDNA, as name servers use it, without a final dot. Raises UrlRefused."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except (idna.IDNAError, UnicodeError):
            _no_host("no host")
    return host.lower().removesuffix(".")


def _no_host(why: str) -> NoReturn:
    raise UrlRefused("url_address_blocked", why)


class UrlRefused(Exception):
    """A URL was not read. code: a stable code of chat/protocol/errors.py.
    location: where the redirect leads that was not followed.  was_sent: the request may have reached the server.
    """

    def __init__(self, code: str, why: str = "", location: str = "", *, was_sent: bool = False) -> None:
        self.code = code
        self.location = location
        self.was_sent = was_sent
        super().__init__(f"{code}: {why}" if why else code)
