"""Reads DATABASE_URL, which may name several hosts as libpq's addresses do.

For example: postgresql://user@first:5432,second:5432/name.
"""

import re
from typing import Any, Final, NoReturn
from urllib.parse import unquote, urlsplit

import dj_database_url

from config import environment as env

DEFAULT_PORT: Final = 5432
# A name, an IPv4 address or an IPv6 address in brackets; a port.
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?")


def parse(url: str) -> dict[str, Any]:
    """Parse the URL into Django's settings of the database. Ends the process with one line if the URL cannot be read.

    libpq tries several hosts one after the other; `?target_session_attrs=read-write` makes it pass over replicas.
    """
    try:
        netloc = urlsplit(url).netloc
    except ValueError:
        _refuse()
    login, at, hosts = netloc.rpartition("@")
    several = hosts.split(",")
    if len(several) > 1:
        found = [_HOST.fullmatch(host) for host in several]
        url = url.replace(netloc, f"{login}{at}several", 1)
    try:
        parsed: dict[str, Any] = dict(dj_database_url.parse(url))
    except (ValueError, AssertionError):
        _refuse()
    if len(several) > 1:
        if not all(found):
            _refuse()
        parsed["HOST"] = ",".join(unquote(one[1] or one[2]) for one in found if one)
        parsed["PORT"] = ",".join(one[3] or str(DEFAULT_PORT) for one in found if one)
    return parsed


def _refuse() -> NoReturn:
    # The address may contain a password, so it is not printed.
    env.fail(
        "DATABASE_URL",
        "cannot be read: postgresql://user:password@host:5432/name, or several host:port with commas",
    )
