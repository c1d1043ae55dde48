"""System checks of the page's settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  Django's name


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
