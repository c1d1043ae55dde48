"""People log in with a provider of OpenID Connect, in a browser whose policy of forms and scripts holds."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from config.embedded import find_suitable_port
from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import PHONE
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider
from tests.stack import Stack

pytestmark = pytest.mark.browser

BUTTON = "Log in with Example Inc."


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def site(running_stack: Stack, provider: IdentityProvider) -> Iterator[str]:
    """Another web process of the stack, which knows the provider; its address."""
    port = find_suitable_port("127.0.0.1")
    given = {
        "PORT": str(port), "OIDC_ISSUER": provider.issuer, "OIDC_CLIENT_ID": CLIENT_ID,
        "OIDC_CLIENT_SECRET": CLIENT_SECRET, "OIDC_NAME": "Example Inc.", "REGISTRATION": "open",
    }  # fmt: skip
    running_stack.start("web", name="web with a provider", environment=given)
    base_url, running_stack.base_url = running_stack.base_url, f"http://127.0.0.1:{port}"
    running_stack.wait_until_ready()
    running_stack.base_url = base_url
    yield f"http://127.0.0.1:{port}"
    running_stack.end("web with a provider")


def identify(page: Page, subject: str) -> None:
    """At the provider."""
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()


def test_a_person_logs_in_and_comes_back_to_the_same_place(
    browser: Browser, site: str, provider: IdentityProvider, stack: Stack
) -> None:
    ada = provider.person("ada", preferred_username="ada", email="ada@example.org", email_verified=True)
    with Reader.at(browser, site) as reader:
        page = reader.page
        page.goto(f"{site}/#settings")
        expect(page.get_by_role("link", name=BUTTON)).to_be_visible()
        assert violations_in_both_themes(page) == []
        page.get_by_role("link", name=BUTTON).press("Enter")
        identify(page, ada)
        reader.wait_until_ready()
        assert page.url == f"{site}/#settings"
        page.goto(f"{site}/profile/logins/")
        expect(page.get_by_role("listitem")).to_contain_text("This browser")
        page.goto(f"{site}/profile/deletion/")
        expect(page.get_by_label("Current password")).to_have_count(0)


def test_who_declines_reads_why_and_how_to_go_on(browser: Browser, site: str) -> None:
    with Reader.at(browser, site, **PHONE, locale="de-DE") as reader:
        page = reader.page
        page.goto(f"{site}/login/")
        page.get_by_role("link", name="Mit Example Inc. anmelden").click()
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("heading")).to_have_text("Du bist nicht angemeldet")
        assert violations_in_both_themes(page) == []
        page.get_by_role("link", name="Zurück zur Anmeldung").click()
        expect(page).to_have_url(re.compile("/login/$"))


def test_an_account_with_a_password_is_connected(
    browser: Browser, site: str, provider: IdentityProvider, newcomer: str, stack: Stack
) -> None:
    with Reader.at(browser, site) as reader:
        page = reader.page
        reader.log_in_by_cookie(newcomer)
        page.goto(f"{site}/profile/")
        page.get_by_role("link", name=BUTTON).click()
        page.get_by_label("Current password").fill(newcomer)
        page.get_by_role("button", name="Connect").click()
        assert violations_in_both_themes(page) == []
        page.get_by_role("link", name="Go on to Example Inc.").click()
        identify(page, provider.person(newcomer))
        expect(page.get_by_role("status")).to_have_text("Connected.")
        assert violations_in_both_themes(page) == []
        page.get_by_label("Current password").fill(newcomer)
        page.get_by_role("button", name="Disconnect").click()
        expect(page.get_by_role("status")).to_have_text("Disconnected.")
