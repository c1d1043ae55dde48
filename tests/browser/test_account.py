"""Users change their own password and make tokens with limits, on the page."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

NEW = "a new and better one"


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
        elsewhere.fill_in(newcomer, NEW)
        elsewhere.wait_until_ready()


def test_a_token_is_limited_when_it_is_made(reader: Reader) -> None:
    page = reader.page
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What the new token may do").select_option("Only read")
    dialog.get_by_label("How long the new token is valid").select_option("30 days")
    dialog.get_by_role("button", name="New token").click()
    token = dialog.get_by_label("New token", exact=True).input_value()
    row = dialog.get_by_role("listitem").filter(has_text=token[:8])
    expect(row).to_contain_text(re.compile("only reads · until "))
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    ask = page.request
    assert ask.get(f"{reader.base_url}/api/sessions/", headers=headers).status == 200
    assert ask.post(f"{reader.base_url}/api/sessions/", headers=headers, data="{}").status == 403
