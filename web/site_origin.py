"""The address of the instance in links that are sent or printed. It is never that of a request, whose headers a client chooses."""

from django.conf import settings


def site_url(path: str) -> str:
    """The link to `path` at SITE_ORIGIN, or at the first host of ALLOWED_HOSTS that is one, as users reach it."""
    return f"{settings.SITE_ORIGIN or _first_origin()}{path}"


def _first_origin() -> str:
    names = [host for host in settings.PAGE_HOSTS if not host.startswith((".", "*"))]
    host = names[0] if names else settings.HOST
    return f"https://{host}" if settings.SECURE_SSL_REDIRECT else f"http://{host}:{settings.PORT}"
