"""The page of a new chat offers what one can begin with: own agents, knowledge bases, saved prompts, recent chats."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.screenshots.scenes import POST

pytestmark = pytest.mark.browser


def test_a_new_chat_offers_agents_bases_prompts_and_recent_chats(reader: Reader) -> None:
    page = reader.page
    pilot = {"name": "Pilot", "emoji": "⚓", "prompt": ""}
    page.evaluate(POST, ["agents/", pilot])
    page.evaluate(POST, ["knowledge-bases/", {"name": "Harbour rules"}])
    page.evaluate(POST, ["prompts/", {"name": "Tide table", "text": "Write a tide table."}])
    page.evaluate(POST, ["sessions/", {"title": "Spring tides"}])
    page.reload()
    start = page.locator("#start")
    expect(start.get_by_role("button", name="Agents…")).to_be_visible()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(start.get_by_role("link", name="Spring tides")).to_be_visible()
        assert violations_in_both_themes(page) == []
        assert page.evaluate(STICKING_OUT) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    start.get_by_role("button", name="Tide table").click()
    expect(reader.field).to_have_value("Write a tide table.")
    start.get_by_role("link", name="Harbour rules").click()
    expect(page).to_have_url(re.compile("#knowledge/"))
    page.locator("#new-chat").click()
    start.get_by_role("button", name="Pilot").click()
    expect(page.get_by_role("heading", name="⚓ Pilot")).to_be_visible()
    expect(start).to_be_hidden()
