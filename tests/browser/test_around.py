"""Logging in and out, the list of chats, the page on a phone."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser
NARROW = {"width": 360, "height": 640}


@pytest.mark.core
def test_a_wrong_password_is_reported_and_the_right_one_logs_in(browser: Browser, stack: Stack) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in("bob", "wrong")
        expect(reader.page.get_by_role("alert")).to_contain_text("correct username and password")
        reader.log_in("bob", "bob")
        reader.wait_until_ready()
        reader.page.locator("#account").click()
        reader.page.get_by_role("menuitem", name="Log out").click()
        expect(reader.page).to_have_url(re.compile("/login/"))
        reader.page.goto(f"{reader.base_url}/")
        expect(reader.page).to_have_url(re.compile("/login/"))


@pytest.mark.core
def test_a_chat_is_named_found_renamed_and_deleted(reader: Reader) -> None:
    reader.send("Plan the garden")
    reader.expect_echo("Plan the garden")
    link = reader.page.locator("#sessions").get_by_role("link", name="Plan the garden")
    expect(link).to_have_attribute("aria-current", "page")
    reader.page.get_by_role("button", name="New chat").click()
    expect(reader.answers).to_have_count(0)
    link.click()
    reader.expect_echo("Plan the garden")

    reader.choose_action("Rename")
    reader.page.get_by_role("textbox", name="Title").fill("Garden, next year")
    reader.page.keyboard.press("Enter")
    renamed = reader.page.locator("#sessions").get_by_role("link", name="Garden, next year")
    expect(renamed).to_be_visible()

    reader.choose_action("Delete")
    expect(renamed).to_have_count(0)
    expect(reader.answers).to_have_count(0)


def test_a_chat_gets_its_title_from_the_model_while_it_is_open(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"wait": "title"}, {"text": "Beds and Paths"}, stream=False)
    reader.send("Plan the garden")
    reader.expect_echo("Plan the garden")
    heading = reader.page.locator("#title")
    expect(heading).to_have_text("Plan the garden")
    stack.upstream.release("title")
    expect(heading).to_have_text("Beds and Paths")
    expect(reader.page.locator("#sessions").get_by_role("link", name="Beds and Paths")).to_be_visible()


@pytest.mark.core
def test_a_chat_of_another_user_does_not_exist(reader: Reader, windows: Windows) -> None:
    reader.send("A secret")
    reader.expect_echo("A secret")
    with windows.borrowed("bob") as bob:
        bob.page.goto(reader.page.url)
        expect(bob.page.get_by_role("alert")).to_contain_text("does not exist")
        expect(bob.answers).to_have_count(0)


@pytest.mark.core
def test_on_a_phone_nothing_is_wider_than_the_screen(caller: Reader, stack: Stack) -> None:
    wide = (
        "| "
        + " | ".join(["column"] * 12)
        + " |\n|"
        + "---|" * 12
        + "\n\n    "
        + "code " * 60
        + "\n\n"
        + "w" * 300
    )
    stack.upstream.reply({"text": wide})
    page = caller.page
    page.set_viewport_size(NARROW)
    caller.pick("alpha", "beta")
    caller.send("Something wide")
    expect(caller.answers.nth(1)).to_have_attribute("aria-busy", "false")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    toggle = page.locator("#sidebar-toggle")
    toggle.click()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("button", name="New chat")).to_be_in_viewport()
