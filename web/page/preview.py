"""The documents of the frames that preview HTML (with SVG) and diagrams in answers.

Their content was written by a model, so it is hostile. The policy of each document gives it an opaque origin, even if
it is opened directly, and no network; the page passes it the content (web/static/chat/preview/preview_frame.js) and
nothing else.
"""

import re
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final

from csp.decorators import csp_update
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  Django's name
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

_SCRIPTS: Final = ("preview/mermaid.js", "preview/diagram.js")
# A host that a policy can name; an IPv6 address is not.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]*", re.IGNORECASE)
_POLICY: Final = {
    "sandbox": "allow-scripts",
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "connect-src": "'none'",
    "form-action": "'none'",
    "base-uri": "'none'",
}
_HEADERS: Final = {
    # Leaks that the policy above does not cover: WebRTC, and names that are resolved before a navigation is refused.
    # Chromium only.
    "Connection-Allowlist": "(response-origin)",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-cache",
}


def base_url() -> str:
    """Return the base URL of the documents, for the page's `data-preview`."""
    root: str = reverse("preview_html").removesuffix("html/")
    return f"{settings.PREVIEW_ORIGIN}{root}"


def with_previews(*other_frames: str) -> Callable[[Any], Any]:
    """Return a decorator for views whose pages show previews, and frames of `other_frames` (CSP sources)."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            # A host in brackets (IPv6) is not a valid CSP source.
            is_named = bool(settings.PREVIEW_ORIGIN) or not request.get_host().startswith("[")
            source = request.build_absolute_uri(base_url()) if is_named else "'self'"
            allowed = csp_update({"frame-src": [*other_frames, source]})
            return allowed(view)(request, *args, **kwargs)

        return wrapped

    return decorate


@require_safe
@xframe_options_exempt
def preview_html(request: HttpRequest) -> HttpResponse:
    """Render the document that is replaced by the content it receives. Its script is inline: it may request nothing."""
    # Everything inline may run: the origin has no data, and there is no way out.
    policy = {
        "script-src": "'unsafe-inline' 'unsafe-eval'",
        "img-src": "data: blob:",
        "media-src": "data: blob:",
        "font-src": "data:",
    }
    response = render(request, "web/preview_html.html", {"script": _inline_script()})
    return _restricted(response, policy)


@require_safe
@xframe_options_exempt
def preview_diagram(request: HttpRequest) -> HttpResponse:
    """Render the document that draws diagrams and returns them as SVG."""
    scripts = [staticfiles_storage.url(name) for name in _SCRIPTS]
    sources = (
        "'self'" if request.get_host().startswith("[") else " ".join(map(request.build_absolute_uri, scripts))
    )
    response = render(request, "web/preview_diagram.html", {"scripts": scripts})
    return _restricted(response, {"script-src": sources, "img-src": "data:"})


def _restricted(response: HttpResponse, policy: dict[str, str]) -> HttpResponse:
    directives = {**_POLICY, **policy, "frame-ancestors": _embedding_origins()}
    response["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in directives.items())
    for name, value in _HEADERS.items():
        response[name] = value
    return response


@cache
def _inline_script() -> str:
    return Path(settings.BASE_DIR, "web", "static", "preview", "html.js").read_text(encoding="utf-8")


def _embedding_origins() -> str:
    """Return the value of frame-ancestors: this site, or with PREVIEW_ORIGIN the hosts of ALLOWED_HOSTS."""
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


@register(Tags.security, deploy=True)
def check_preview_origin(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    if not (settings.PREVIEW_ORIGIN.startswith("http://") and settings.SECURE_SSL_REDIRECT):
        return []
    return [
        Warning(
            "PREVIEW_ORIGIN is not encrypted: browsers do not load it in a page that is.",
            hint="Use an address that starts with https://.",
            id="turnwire.W004",
        )
    ]
