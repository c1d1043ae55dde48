"""The lines that a start prints when web answers: the address, who can reach it, and what is still missing. Pure."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.utils.http import is_same_domain

from config.environment import are_loopback, host_of
from config.preflight import is_loopback
from web.site_origin import browser_host, listening_address, site_origin


def ready_lines(settings: Any) -> Iterator[str]:
    """Yield the lines. settings: Django's, or the module config.settings, which the launcher reads without Django."""
    origin = site_origin(settings)
    if settings.DEVELOPMENT:
        yield f"ready: {origin}  (log in as demo, password demo)"
        if is_loopback(settings.HOST):
            yield "only this machine can reach it: for others, set SECRET_KEY and ALLOWED_HOSTS (see the README)"
        return
    yield f"ready: {origin}"
    if origin.startswith("https://"):
        yield _through_a_proxy(settings, origin)
    else:
        yield _without_tls(settings, origin)
    if not _is_answered(host_of(origin), settings.PAGE_HOSTS):
        yield f"requests at {origin} are refused: add {host_of(origin)} to ALLOWED_HOSTS"


def _through_a_proxy(settings: Any, origin: str) -> str:
    listens = listening_address(settings)
    proxy = (
        "" if settings.TRUSTED_PROXIES else ", and its address as TRUSTED_PROXIES (127.0.0.1 if it runs here)"
    )
    alone = ", which only this machine can reach," if is_loopback(settings.HOST) else ""
    return (
        f"{origin} needs a proxy that terminates TLS and forwards to {listens}{alone} with the header X-Forwarded-Proto"
        f"{proxy}. Without a proxy, set PUBLIC_URL={listens} and add its host to ALLOWED_HOSTS"
    )


def _without_tls(settings: Any, origin: str) -> str:
    """Say who can reach an instance that expects no TLS, and what opens it to others."""
    listens, is_of_this_machine = listening_address(settings), are_loopback([browser_host(host_of(origin))])
    if not is_of_this_machine and is_loopback(settings.HOST):
        return f"web listens at {listens} alone: {origin} needs a proxy that forwards to it, or another HOST"
    if urlsplit(origin).port != settings.PORT:
        return f"{origin} needs a proxy that forwards to {listens}, or another PORT"
    names = ", ".join(settings.PAGE_HOSTS)
    if not is_of_this_machine:
        return f"other machines can reach it at port {settings.PORT} as {names}, without TLS: for networks you trust"
    begin, host = "only this machine can reach it", "HOST=0.0.0.0 and "
    if not is_loopback(settings.HOST):
        begin, host = f"web listens at {settings.HOST} and refuses other names than {names}", ""
    return (
        f"{begin}. For others, add a NAME of it to ALLOWED_HOSTS and set PUBLIC_URL=https://NAME (a proxy with TLS"
        f" forwards to {listens}) or, on a network you trust, {host}PUBLIC_URL=http://NAME:{settings.PORT}"
    )


def _is_answered(host: str, names: list[str]) -> bool:
    """Return whether ALLOWED_HOSTS has the host, as Django compares them."""
    return any(name in ("*", f"[{host}]") or is_same_domain(host, name) for name in names)
