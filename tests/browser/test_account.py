"""Users change their own password and make tokens with limits, on the page."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.authenticator_app import code_of
from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import PHONE
from tests.stack import Stack

pytestmark = pytest.mark.browser

NEW = "a new and better one"


@pytest.mark.core
def test_a_user_changes_the_password_and_other_browsers_are_logged_out(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    with Reader.at(browser, stack.base_url) as reader, Reader.at(browser, stack.base_url) as elsewhere:
        for one in (reader, elsewhere):
            one.log_in(newcomer, newcomer)
            one.wait_until_ready()
        page = reader.page
        page.locator("#account").click()
        page.get_by_role("menuitem", name="Change password").click()
        expect(page.get_by_label("Current password")).to_be_focused()
        assert violations_in_both_themes(page) == []
        for current, new, text in [
            ("wrong", NEW, "entered incorrectly"),
            (newcomer, "short", "too short"),
            (newcomer, NEW, None),
        ]:
            page.get_by_label("Current password").fill(current)
            page.get_by_label("New password", exact=True).fill(new)
            page.get_by_label("New password again").fill(new)
            page.get_by_role("button", name="Change password").click()
            if text:
                expect(page.get_by_role("alert")).to_contain_text(text)
        reader.wait_until_ready()
        # Its socket was closed: nobody touched that page.
        expect(elsewhere.page).to_have_url(re.compile("/login/"))
        expect(elsewhere.page.get_by_role("status")).to_contain_text("Your login has expired")
        elsewhere.fill_in(newcomer, NEW)
        elsewhere.wait_until_ready()


def test_a_user_sees_the_own_browsers_and_logs_them_out(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    with (
        Reader.at(browser, stack.base_url, **PHONE) as reader,
        Reader.at(browser, stack.base_url) as elsewhere,
    ):
        for one in (elsewhere, reader):
            one.log_in(newcomer, newcomer)
            one.wait_until_ready()
        page = reader.page
        page.goto(f"{stack.base_url}/profile/")
        page.get_by_role("link", name="Where you are logged in").click()
        expect(page.get_by_role("listitem")).to_have_count(2)
        expect(page.get_by_role("listitem").first).to_contain_text("This browser")
        assert violations_in_both_themes(page) == []
        page.get_by_role("button", name="Log out", exact=True).press("Enter")
        expect(page.get_by_role("status")).to_have_text("Logged out there.")
        expect(page.get_by_role("listitem")).to_have_count(1)
        # Its socket was closed: nobody touched that page.
        expect(elsewhere.page).to_have_url(re.compile("/login/"))
        elsewhere.fill_in(newcomer, newcomer)
        elsewhere.wait_until_ready()
        page.reload()
        expect(page.get_by_role("listitem")).to_have_count(2)
        page.get_by_role("button", name="Log out everywhere else").press("Enter")
        expect(page.get_by_role("listitem")).to_have_count(1)
        expect(elsewhere.page).to_have_url(re.compile("/login/"))
        assert reader.errors == []


def test_a_token_is_limited_when_it_is_made(reader: Reader) -> None:
    page = reader.page
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What the new token may do").select_option("Only read")
    dialog.get_by_label("How long the new token is valid").select_option("30 days")
    with page.expect_response("**/api/usage/limits/"):  # the counters are read again
        dialog.get_by_role("button", name="New token").click()
    token = dialog.get_by_label("New token", exact=True).input_value()
    row = dialog.get_by_role("listitem").filter(has_text=token[:8])
    expect(row).to_contain_text(re.compile("only reads · until "))
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    ask = page.request
    assert ask.get(f"{reader.base_url}/api/sessions/", headers=headers).status == 200
    assert ask.post(f"{reader.base_url}/api/sessions/", headers=headers, data="{}").status == 403


def test_a_token_for_an_agent_says_so_after_its_use(reader: Reader) -> None:
    page, ask = reader.page, reader.page.request
    token = page.evaluate("() => document.cookie.match(/csrftoken=([^;]+)/)[1]")
    headers = {"X-CSRFToken": token, "Content-Type": "application/json", "Origin": reader.base_url}
    made = ask.post(
        f"{reader.base_url}/api/agents/",
        headers=headers,
        data='{"name": "Tide Teller", "prompt": "Be brief."}',
    )
    assert made.status == 201, made.text()
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What the new token may do").select_option("Only ask the agent Tide Teller")
    dialog.get_by_label("How many tokens its answers may use per day").fill("5000")
    dialog.get_by_role("button", name="New token").click()
    token = dialog.get_by_label("New token", exact=True).input_value()
    row = dialog.get_by_role("listitem").filter(has_text=token[:8])
    expect(row).to_contain_text("only asks the agent Tide Teller · tokens per day: 5,000 · never used")
    listed = ask.get(f"{reader.base_url}/v1/models", headers={"Authorization": f"Bearer {token}"})
    assert [model["id"] for model in listed.json()["data"]] == ["agent/tide teller"]
    page.reload()
    reader.wait_until_ready()
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    expect(row).to_contain_text("last used on")
    assert reader.errors == []


def test_who_logs_out_is_not_told_that_the_login_has_expired(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in(newcomer, newcomer)
        reader.wait_until_ready()
        reader.page.locator("#account").click()
        reader.page.get_by_role("menuitem", name="Log out").click()
        expect(reader.page.get_by_label("Username")).to_be_focused()
        expect(reader.page.get_by_role("status")).to_have_count(0)


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desktop", "phone"])
def test_too_many_attempts_are_told_how_long_to_wait(
    browser: Browser, stack: Stack, newcomer: str, look: dict[str, Any]
) -> None:
    with Reader.at(browser, stack.base_url, **look) as reader:
        page = reader.page
        page.clock.install()
        page.goto(f"{stack.base_url}/login/?next=/%23project")
        # Eight at once; one more for each minute that this takes.
        for _ in range(40):
            # Each answer is a page of its own.
            with page.expect_navigation():
                reader.fill_in(newcomer, "wrong")
            expect(page.get_by_role("alert").or_(page.get_by_role("timer"))).to_be_visible()
            if page.get_by_role("timer").count():
                break
        expect(page.get_by_role("heading")).to_have_text("Too many attempts")
        first = page.get_by_role("timer").inner_text()
        assert re.fullmatch(r"[01]:\d\d", first)
        assert violations_in_both_themes(page) == []
        expect(page.get_by_role("timer")).not_to_have_text(first)
        page.clock.fast_forward("02:00")
        expect(page.get_by_role("status")).to_have_text("You can try again now.")
        page.get_by_role("link", name="Try again").click()
        expect(page.get_by_label("Username")).to_be_focused()
        assert page.locator("input[name=next]").input_value() == "/#project"
        assert reader.errors == []


def test_a_password_is_set_with_a_link_that_an_admin_makes(
    browser: Browser, stack: Stack, newcomer: str
) -> None:
    with Reader.at(browser, stack.base_url) as admin, Reader.at(browser, stack.base_url, **PHONE) as reader:
        page = reader.page
        page.goto(f"{stack.base_url}/login/")
        page.get_by_role("link", name="Forgot your password?").click()
        expect(page.get_by_text("Ask an administrator for a link")).to_be_visible()
        assert violations_in_both_themes(page) == []
        admin.page.goto(f"{stack.base_url}/admin/auth/user/?q={newcomer}")
        admin.fill_in("root", "root")
        admin.page.get_by_role("link", name=newcomer).click()
        admin.page.get_by_role("link", name="Link to set a password").click()
        admin.page.get_by_role("button", name="Make the link").click()
        field = admin.page.get_by_label("Give this link to the user")
        assert violations_in_both_themes(admin.page) == []
        page.goto(field.input_value())
        expect(page.get_by_label("New password", exact=True)).to_be_focused()
        expect(page.get_by_label("Username")).to_have_value(newcomer)
        assert violations_in_both_themes(page) == []
        page.get_by_label("New password", exact=True).fill(NEW)
        page.get_by_label("New password again").fill(NEW)
        page.get_by_role("button", name="Set the password").press("Enter")
        expect(page.get_by_role("status")).to_contain_text("The new password is set")
        reader.fill_in(newcomer, NEW)
        reader.wait_until_ready()
        page.goto(field.input_value())
        expect(page.get_by_role("heading")).to_have_text("This link is not valid")
        assert violations_in_both_themes(page) == []
        assert reader.errors == admin.errors == []


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desktop", "phone"])
def test_a_user_changes_name_and_address(
    browser: Browser, stack: Stack, newcomer: str, look: dict[str, Any]
) -> None:
    with Reader.at(browser, stack.base_url, **look) as reader:
        page = reader.page
        reader.log_in(newcomer, newcomer)
        reader.wait_until_ready()
        page.goto(f"{stack.base_url}/profile/")
        assert violations_in_both_themes(page) == []
        page.get_by_label("First name").fill("Alice")
        page.get_by_label("Last name").fill("Liddell")
        page.get_by_label("E-mail address").fill("alice@example.org")
        page.get_by_role("button", name="Save").press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("entered incorrectly")
        expect(page.get_by_label("E-mail address")).to_have_value("alice@example.org")
        page.get_by_label("Current password").fill(newcomer)
        page.get_by_role("button", name="Save").press("Enter")
        expect(page.get_by_role("status")).to_have_text("Saved.")
        assert violations_in_both_themes(page) == []
        page.get_by_role("link", name="Back to the chats").click()
        expect(page.locator("#account")).to_contain_text("Alice Liddell")
        reader.wait_until_ready()
        assert reader.errors == []


def test_a_user_logs_in_with_a_code_of_an_app(browser: Browser, stack: Stack, newcomer: str) -> None:
    def code() -> str:
        # Later than the one before, and within what clocks may differ.
        return code_of(secret, int(time.time()) // 30 + 1)

    with Reader.at(browser, stack.base_url, **PHONE) as reader:
        page = reader.page
        reader.log_in_by_cookie(newcomer)
        page.goto(f"{stack.base_url}/profile/")
        page.get_by_role("link", name="Log in with a code").click()
        expect(page.get_by_role("img", name="The key as a QR code")).to_be_visible()
        assert page.evaluate("document.querySelector('.picture').naturalWidth") > 0
        assert violations_in_both_themes(page) == []
        secret = page.locator(".key").inner_text()
        page.get_by_label("Current password").fill(newcomer)
        page.get_by_label("Code of your app").fill(code_of(secret, int(time.time()) // 30))
        page.get_by_role("button", name="Ask for a code").click()
        expect(page.locator(".codes li")).to_have_count(10)
        assert violations_in_both_themes(page) == []
    with Reader.at(browser, stack.base_url) as reader:
        page = reader.page
        reader.log_in(newcomer, newcomer)
        expect(page.get_by_label("Code of your app, or a recovery code")).to_be_focused()
        assert violations_in_both_themes(page) == []
        page.keyboard.type(code())
        page.keyboard.press("Enter")
        reader.wait_until_ready()
        assert reader.errors == []


def test_a_password_is_shown_while_its_user_wants_to_see_it(browser: Browser, reader: Reader) -> None:
    with Reader.at(browser, reader.base_url) as visitor:
        page = visitor.page
        page.goto(f"{reader.base_url}/login/")
        password = page.get_by_label("Password", exact=True)
        password.fill("moon and tide")
        expect(password).to_have_attribute("type", "password")
        page.get_by_role("button", name="Show").click()
        expect(password).to_have_attribute("type", "text")
        expect(password).to_have_value("moon and tide")
        assert violations_in_both_themes(page) == []
        page.get_by_role("button", name="Hide").click()
        expect(password).to_have_attribute("type", "password")


def test_a_login_lasts_beyond_the_browser_unless_its_user_says_otherwise(
    browser: Browser, reader: Reader, newcomer: str
) -> None:
    for stays in (True, False):
        with Reader.at(browser, reader.base_url) as visitor:
            visitor.page.goto(f"{reader.base_url}/login/")
            visitor.page.get_by_label("Stay logged in on this device").set_checked(stays)
            visitor.fill_in(newcomer, newcomer)
            visitor.wait_until_ready()
            [cookie] = [cookie for cookie in visitor.context.cookies() if cookie["name"] == "sessionid"]
            assert (cookie["expires"] > 0) is stays
