"""Context processor with the ways to log in, for templates that link to them."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from features.accounts.relying_party import has_passkeys


def login_ways(request: HttpRequest) -> dict[str, Any]:
    """Return the ways to log in.
    oidc_name: empty without a provider. has_passkeys: a callable, since only some templates need it.
    """
    return {
        "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "has_passkeys": lambda: has_passkeys(request),
        "has_password_login": settings.PASSWORD_LOGIN,
    }
