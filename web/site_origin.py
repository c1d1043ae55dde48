"""The address of the instance in links that are sent or printed.
It is never taken from a request, whose headers a client chooses.
"""

from typing import Any, Final

from django.conf import settings as django_settings

# The name of this machine at which browsers use passkeys, which they do not at a numeric address.
LOCALHOST: Final = "localhost"
# The addresses that browsers connect to at LOCALHOST.
_OF_LOCALHOST: Final = ("127.0.0.1", "[::1]")


def site_url(path: str) -> str:
    """Return the link to `path` at the address where users reach the instance."""
    return f"{site_origin(django_settings)}{path}"


def site_origin(settings: Any) -> str:
    """Return PUBLIC_URL, or else the origin of a name of ALLOWED_HOSTS. settings: of the process.
    It is where web listens, or a proxy with TLS in front of it.
    """
    if settings.SITE_ORIGIN:
        return str(settings.SITE_ORIGIN)
    listens = browser_host(settings.HOST)
    names = [host for host in settings.PAGE_HOSTS if not host.startswith((".", "*"))] or [listens]
    if settings.SECURE_SSL_REDIRECT:
        return f"https://{names[0]}"
    own = (LOCALHOST, listens) if listens in _OF_LOCALHOST else (listens,)
    host = next((name for name in own if name in names), names[0])
    return f"http://{host}:{settings.PORT}"


def listening_address(settings: Any) -> str:
    """Return the address of web itself, as typed into a browser on this machine."""
    return f"http://{browser_host(settings.HOST)}:{settings.PORT}"


def browser_host(host: str) -> str:
    """Return `host` as typed into a browser on this machine."""
    host = connectable_host(host)
    return f"[{host}]" if ":" in host else host


def connectable_host(host: str) -> str:
    """Return `host`, or loopback if it stands for all addresses of the machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  compared, not bound
