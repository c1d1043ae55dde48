"""Context processor: by which ways people log in, for the templates that lead there."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from web.accounts.passkeys.relying_party import has_passkeys


def login_ways(request: HttpRequest) -> dict[str, Any]:
    """oidc_name: of the provider, empty if there is none. has_passkeys: asked by the templates that need it alone."""
    return {
        "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "has_passkeys": lambda: has_passkeys(request),
        "has_password_login": settings.PASSWORD_LOGIN,
    }
