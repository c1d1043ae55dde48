"""One provider for the tests of this folder, and a site that lets people log in with it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider

START = "/login/oidc/"
Visit = Callable[..., Any]


@pytest.fixture(scope="package")
def running_provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: IdentityProvider, settings: Any) -> IdentityProvider:
    running_provider.tamper()
    settings.OIDC_ISSUER = running_provider.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OIDC_NAME = "Example Inc."
    settings.REGISTRATION = "open"
    return running_provider


@pytest.fixture
def visit(provider: IdentityProvider) -> Visit:
    """Return what the site answers at the end of a login as `subject`; None: who declines."""

    def go(browser: Client, subject: str | None, start: str = START) -> Any:
        led = browser.get(start)
        assert led.status_code == 302, led.text
        return browser.get(provider.answer(led["Location"], subject))

    return go
