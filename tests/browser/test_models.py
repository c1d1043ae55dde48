"""The choice of models belongs to the chat, wherever it is open."""

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


def test_one_click_switches_the_model_and_the_chat_keeps_it(
    reader: Reader, caller: Reader, stack: Stack
) -> None:
    reader.pick("beta")
    reader.send("Hello")
    reader.expect_echo("Hello")
    assert stack.upstream.requests[-1].body["model"] == "beta"
    reader.page.wait_for_url("**/#*-*")
    first = reader.page.url

    caller.page.goto(first)
    caller.expect_picked("beta")
    caller.pick("gamma")
    reader.expect_picked("gamma")

    reader.page.get_by_role("button", name="New chat").click()
    reader.pick("alpha")
    reader.send("Another chat")
    reader.expect_echo("Another chat")
    caller.expect_picked("gamma")
    reader.page.goto(first)
    reader.expect_picked("gamma")
    reader.page.reload()
    reader.expect_picked("gamma")
    reader.send("Go on")
    reader.expect_echo("Go on", index=1)
    assert stack.upstream.requests[-1].body["model"] == "gamma"


def test_several_are_compared_by_ticking_them_and_by_keyboard(reader: Reader) -> None:
    reader.pick("beta", "gamma")
    reader.expect_picked("beta", "gamma")
    models = reader.page.locator("#models")
    models.locator("summary").press("Enter")
    beta = models.get_by_role("button", name="beta", exact=True)
    expect(beta).to_have_attribute("aria-pressed", "true")
    models.get_by_label("Compare beta side by side").press("Space")
    reader.expect_picked("gamma")
    models.get_by_label("Compare gamma side by side").press("Space")
    reader.expect_picked("gamma")
    expect(models.get_by_label("Compare gamma side by side")).to_be_checked()
    beta.press("Enter")
    reader.expect_picked("beta")
    expect(models).not_to_have_attribute("open", "")
    expect(models.locator("summary")).to_be_focused()
