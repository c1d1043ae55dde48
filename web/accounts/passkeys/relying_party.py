"""The site that passkeys are made for: its domain (the RP id of WebAuthn), and the origin that answers must name."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def has_passkeys(request: HttpRequest) -> bool:
    """Return whether browsers can use passkeys at the address of the request: a host name, over HTTPS or localhost."""
    if not settings.PASSWORD_LOGIN:
        return False  # the provider alone decides who may log in
    host = _host(request)
    is_safe = request.is_secure() or host == "localhost" or host.endswith(".localhost")
    return is_safe and not _is_address(host) and _is_within(host, domain_of(request))


def domain_of(request: HttpRequest) -> str:
    """Return the RP id: PASSKEY_DOMAIN, or the host of the request, which ALLOWED_HOSTS limits."""
    return settings.PASSKEY_DOMAIN or _host(request)


def origin_of(request: HttpRequest) -> str:
    """Return the origin of the pages as the browser sees it. A trusted proxy tells whether that is HTTPS."""
    return f"{request.scheme}://{request.get_host().lower()}"


def _host(request: HttpRequest) -> str:
    host = request.get_host().lower()
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
