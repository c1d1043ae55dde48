"""The site that passkeys are made for: its domain (the RP id of WebAuthn), and the origin that answers must name."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from web.site_origin import LOCALHOST


def has_passkeys(request: HttpRequest) -> bool:
    """Return whether browsers can use passkeys at the address of the request: a host name, over HTTPS or localhost."""
    if not settings.PASSWORD_LOGIN:
        return False  # the provider alone decides who may log in
    host = _host(request)
    is_safe = request.is_secure() or host == "localhost" or host.endswith(".localhost")
    return is_safe and _address(host) is None and _is_within(host, domain_of(request))


def address_with_passkeys(request: HttpRequest) -> str:
    """Return the address of the page at localhost if the request came to an IP address of this machine; else empty."""
    address = _address(_host(request))
    if request.is_secure() or address is None or not address.is_loopback:
        return ""
    # As at the address that a start prints (web/site_origin.py).
    there = HttpRequest()
    there.META = {**request.META, "HTTP_HOST": request.get_host().lower().replace(_host(request), LOCALHOST)}
    try:
        return there.build_absolute_uri(request.path) if has_passkeys(there) else ""
    except DisallowedHost:
        return ""


def domain_of(request: HttpRequest) -> str:
    """Return the RP id: PASSKEY_DOMAIN, or the host of the request, which ALLOWED_HOSTS limits."""
    return settings.PASSKEY_DOMAIN or _host(request)


def origin_of(request: HttpRequest) -> str:
    """Return the origin of the pages as the browser sees it. A trusted proxy tells whether that is HTTPS."""
    return f"{request.scheme}://{request.get_host().lower()}"


def _host(request: HttpRequest) -> str:
    host = request.get_host().lower()
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
