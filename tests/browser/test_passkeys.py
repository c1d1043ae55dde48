"""A user adds a passkey, logs in with it alone or after the password, and removes it: with Chromium's virtual authenticator."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, CDPSession, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.windows import PHONE as WIDE_PHONE
from tests.stack import Stack

pytestmark = pytest.mark.browser
PHONE = {**WIDE_PHONE, "viewport": {"width": 360, "height": 780}}


@pytest.fixture
def base_url(stack: Stack) -> str:
    # An address without a name has no passkeys.
    return stack.base_url.replace("127.0.0.1", "localhost")


@pytest.fixture
def phone(browser: Browser, base_url: str) -> Iterator[Reader]:
    with Reader.at(browser, base_url, **PHONE) as reader:
        yield reader


def add_authenticator(reader: Reader) -> tuple[CDPSession, str]:
    """Give the browser a device that verifies its user, who always agrees. Return its id too."""
    session = reader.context.new_cdp_session(reader.page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    return session, session.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]


def forget(reader: Reader) -> None:
    """Log the browser out. No page is open, which would go to the login by itself."""
    reader.page.goto("about:blank")
    reader.context.clear_cookies()


def check_look(reader: Reader) -> None:
    assert violations_in_both_themes(reader.page) == []
    assert reader.page.evaluate(STICKING_OUT) == []


def add_passkey(reader: Reader, user: str) -> str:
    """Add one as `user`, who is logged in then; return a recovery code."""
    page = reader.page
    reader.log_in_by_cookie(user)
    page.goto(f"{reader.base_url}/profile/")
    page.get_by_role("link", name="Passkeys").click()
    page.get_by_label("Name of the new passkey").fill("My phone")
    page.get_by_label("Current password").fill(user)
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.locator(".codes li")).to_have_count(10)
    return page.locator(".codes li").first.inner_text()


def test_a_passkey_is_added_renamed_and_removed(phone: Reader, newcomer: str) -> None:
    page, base_url = phone.page, phone.base_url
    add_authenticator(phone)
    phone.log_in_by_cookie(newcomer)
    page.goto(f"{base_url}/profile/passkeys/")
    check_look(phone)
    page.get_by_label("Current password").fill("wrong")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("entered incorrectly")
    add_passkey(phone, newcomer)
    check_look(phone)
    page.get_by_role("link", name="Passkeys").click()
    expect(page.get_by_role("listitem")).to_contain_text("Not used yet")
    check_look(phone)
    page.get_by_role("link", name="New recovery codes").click()
    check_look(phone)
    page.get_by_role("link", name="Passkeys").click()
    page.get_by_role("link", name="Change").click()
    check_look(phone)
    page.get_by_label("Name").fill("Old phone")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("listitem")).to_contain_text("Old phone")
    page.get_by_role("link", name="Change").click()
    page.get_by_label("Current password").fill(newcomer)
    page.get_by_role("button", name="Remove the passkey").click()
    expect(page.get_by_role("status")).to_contain_text("asks for the password alone")
    check_look(phone)
    forget(phone)
    phone.log_in(newcomer, newcomer)
    phone.wait_until_ready()
    assert phone.errors == []


@pytest.mark.core
def test_a_passkey_logs_in_alone_and_after_the_password(phone: Reader, newcomer: str) -> None:
    page, base_url = phone.page, phone.base_url
    add_authenticator(phone)
    page.goto(f"{base_url}/login/")
    button = page.get_by_role("button", name="Log in with a passkey")
    expect(button).to_be_visible()
    check_look(phone)
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")
    recovery = add_passkey(phone, newcomer)

    forget(phone)
    page.goto(f"{base_url}/#project")
    expect(button).to_be_visible()
    fields = page.locator("input[name=next]")
    assert [field.input_value() for field in fields.all()] == ["/#project"] * 2
    page.goto(f"{base_url}/login/?next=/profile/")
    button.click()
    expect(page).to_have_url(f"{base_url}/profile/")

    forget(phone)
    phone.log_in(newcomer, newcomer)
    expect(page.get_by_role("heading")).to_have_text("Your passkey")
    expect(button).to_be_focused()
    check_look(phone)
    page.keyboard.press("Enter")
    phone.wait_until_ready()

    forget(phone)
    phone.log_in(newcomer, newcomer)
    page.get_by_label("A recovery code").fill(recovery)
    page.get_by_role("button", name="Log in", exact=True).click()
    phone.wait_until_ready()
    assert phone.errors == []


def test_a_copy_of_a_passkey_is_refused(phone: Reader, newcomer: str) -> None:
    page = phone.page
    device, name = add_authenticator(phone)
    add_passkey(phone, newcomer)
    for _ in range(2):
        forget(phone)
        page.goto(f"{phone.base_url}/login/")
        page.get_by_role("button", name="Log in with a passkey").click()
        phone.wait_until_ready()
    # What somebody copied before: the same key, with the counter of then.
    forget(phone)
    page.goto(f"{phone.base_url}/login/")
    (key,) = device.send("WebAuthn.getCredentials", {"authenticatorId": name})["credentials"]
    device.send("WebAuthn.clearCredentials", {"authenticatorId": name})
    copy = {"authenticatorId": name, "credential": key | {"signCount": 1}}
    device.send("WebAuthn.addCredential", copy)
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("was not accepted")
    assert violations_in_both_themes(page) == []
    assert phone.errors == []


def test_an_address_without_a_name_leads_to_one_at_which_a_passkey_is_added(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    with Reader.at(browser, stack.base_url, **PHONE) as reader:
        page = reader.page
        add_authenticator(reader)
        page.goto(f"{stack.base_url}/login/")
        expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Log in with a passkey")).to_have_count(0)
        reader.log_in_by_cookie(newcomer)
        page.goto(f"{stack.base_url}/profile/passkeys/")
        expect(page.get_by_text("needs an address with a name")).to_be_visible()
        check_look(reader)
        page.get_by_role("link", name="http://localhost").click()
        reader.fill_in(newcomer, newcomer)
        page.get_by_label("Current password").fill(newcomer)
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.locator(".codes li")).to_have_count(10)
        assert reader.errors == []
