"""What a half configuration of the login with a provider is told by `check`."""

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.checks import Tags, run_checks


def warned(**how: Any) -> list[str]:
    return [str(found.id) for found in run_checks(**how) if str(found.id).startswith("turnwire.")]


@pytest.mark.slow
@pytest.mark.pure
def test_deployments_are_warned_of_a_provider_without_encryption(settings: Any) -> None:
    settings.OIDC_ISSUER = "http://id.example.com"
    assert warned(include_deployment_checks=True) == ["turnwire.W001"]
    settings.OIDC_ISSUER = "https://id.example.com"
    assert warned(include_deployment_checks=True) == []


@pytest.mark.slow
@pytest.mark.pure
def test_deployments_without_passwords_are_warned_of_staff_without_admins(settings: Any) -> None:
    settings.OIDC_ISSUER, settings.PASSWORD_LOGIN = "https://id.example.com", False
    settings.OIDC_STAFF_GROUPS = ["support"]
    assert warned(include_deployment_checks=True) == ["turnwire.W002"]
    settings.OIDC_ADMIN_GROUPS = ["admins"]
    assert warned(include_deployment_checks=True) == []


@pytest.mark.django_db
def test_without_passwords_some_admin_must_get_in(settings: Any) -> None:
    settings.OIDC_ISSUER, settings.PASSWORD_LOGIN = "https://id.example.com", False
    settings.DEVELOPMENT = False
    database = {"tags": [Tags.database], "databases": ["default"]}
    assert warned(**database) == [], "the link of the start makes the first admin"
    root = User.objects.create_superuser("root")
    assert warned(**database) == ["turnwire.W003"]
    SocialAccount.objects.create(user=root, provider=settings.OIDC_ISSUER, uid="r")
    assert warned(**database) == []
