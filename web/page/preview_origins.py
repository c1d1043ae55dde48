"""The origins that may embed the documents of previews: those of this site, as CSP sources."""

import re

from django.conf import settings

# A host that a policy can name; an IPv6 address is not.
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*", re.IGNORECASE)


def embedding_origins() -> str:
    """Return the value of frame-ancestors. With PREVIEW_ORIGIN, the embedding page is at a host of ALLOWED_HOSTS."""
    if not settings.PREVIEW_ORIGIN:
        return "'self'"
    if "*" in settings.PAGE_HOSTS:
        return "*"
    # With any port, since no setting names the port of pages.
    names = [f"*{host}" if host.startswith(".") else host for host in settings.PAGE_HOSTS]
    named = [f"{name}:*" for name in names if _NAME.fullmatch(name.removeprefix("*."))]
    # `.example.org` means example.org as well.
    named += [f"{host[1:]}:*" for host in settings.PAGE_HOSTS if host.startswith(".")]
    return " ".join(named) or "'none'"
