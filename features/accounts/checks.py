"""System checks of the login with a provider. Settings that cannot work at all end the start (config/settings.py)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  Django's name
from django.db import DatabaseError
from django.db.models import Q


@register(Tags.security, deploy=True)
def check_transport(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    """Warn if OIDC_ISSUER is not encrypted. This includes an issuer on loopback, which no deployment has."""
    if urlsplit(settings.OIDC_ISSUER).scheme != "http":
        return []
    return [
        Warning(
            "OIDC_ISSUER is not encrypted: whoever is on the way to it can log in as anybody.",
            hint="Use an address that starts with https://.",
            id="turnwire.W001",
        )
    ]


@register(Tags.security, deploy=True)
def check_registration(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    if settings.PASSWORD_LOGIN or settings.OIDC_ADMIN_GROUPS or not settings.OIDC_STAFF_GROUPS:
        return []
    return [
        Warning(
            "Without passwords, OIDC_STAFF_GROUPS makes staff, but nobody who may do everything.",
            hint="Set OIDC_ADMIN_GROUPS, or connect an admin with the provider.",
            id="turnwire.W002",
        )
    ]


@register(Tags.database)
def check_admins(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    """Warn if no admin can log in. Runs with `check --database default`, and at each migration."""
    if settings.PASSWORD_LOGIN or not databases or settings.OIDC_ADMIN_GROUPS:
        return []
    from features.accounts.registration import needs_first_admin

    try:
        if needs_first_admin() or _some_admin_gets_in():
            return []
    except DatabaseError:
        return []  # before the first migration
    return [
        Warning(
            "PASSWORD_LOGIN is off, and no admin is connected with OIDC_ISSUER or has an e-mail address.",
            hint="Enter the address of an admin that the provider confirms, or set PASSWORD_LOGIN=1.",
            id="turnwire.W003",
        )
    ]


def _some_admin_gets_in() -> bool:
    from django.contrib.auth.models import User

    connected = Q(socialaccount__provider=settings.OIDC_ISSUER)
    admins = User.objects.filter(connected | ~Q(email=""), is_superuser=True, is_active=True)
    return admins.exists()
