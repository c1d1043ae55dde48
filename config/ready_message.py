"""The lines that a start prints when web answers: the address, and what is still missing to reach it. Pure."""

from collections.abc import Iterator
from typing import Any

from web.site_origin import connectable_host, listening_address, site_origin


def ready_lines(settings: Any) -> Iterator[str]:
    """Yield the lines. settings: Django's, or the module config.settings, which the launcher reads without Django."""
    listens = listening_address(settings)
    if settings.DEVELOPMENT:
        yield f"ready: {listens}  (log in as demo, password demo)"
        return
    origin = site_origin(settings)
    yield f"ready: {origin}"
    if origin.startswith("https://"):
        proxy = (
            ""
            if settings.TRUSTED_PROXIES
            else ", and its address as TRUSTED_PROXIES (127.0.0.1 if it runs here)"
        )
        yield (
            f"{origin} needs a proxy that terminates TLS and forwards to {listens}, with the header X-Forwarded-Proto"
            f"{proxy}. Without a proxy, set PUBLIC_URL={listens} and add its host to ALLOWED_HOSTS"
        )
    elif origin != listens and connectable_host(settings.HOST) == settings.HOST:
        yield f"web listens at {listens} alone: {origin} needs a proxy that forwards to it, or another HOST"
