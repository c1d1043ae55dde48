"""What a new user finds where nothing is yet: what the thing is for, and one click that begins it."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.windows import Windows

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_what_is_empty_says_what_it_is_for_and_begins_it(windows: Windows, newcomer: str) -> None:
    with windows.borrowed(newcomer) as reader:
        page = reader.page
        page.locator("#agents summary").click()
        expect(page.locator("#agents")).to_contain_text("An agent is a prompt with tools")
        assert violations_in_both_themes(page) == []
        page.locator("#agents").get_by_role("button", name="Agents…").click()
        agents = page.get_by_role("dialog", name="Agents")
        expect(agents).to_contain_text("Pick it in the composer.")
        agents.get_by_role("button", name="New agent").click()
        expect(agents.get_by_label("Name")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")

        page.locator("#bases summary").click()
        expect(page.locator("#bases")).to_contain_text("A knowledge base holds documents")
        page.locator("#bases").get_by_role("link", name="Knowledge bases…").click()
        page.get_by_role("button", name="New knowledge base").click()
        expect(page.get_by_role("dialog", name="New knowledge base")).to_be_visible()
        page.keyboard.press("Escape")

        page.get_by_role("button", name="New project").click()
        expect(page.get_by_role("dialog", name="New project")).to_contain_text(
            "A project keeps chats together"
        )
        assert violations_in_both_themes(page) == []
        page.keyboard.press("Escape")
