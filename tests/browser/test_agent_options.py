"""Options of an agent: set in its form, and over them those of a chat."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_chat_options import asked, opened, save
from tests.browser.test_shared_agents import open_agents
from tests.browser.test_texts_fit import STICKING_OUT
from tests.screenshots.scenes import POST
from tests.stack import Stack

pytestmark = pytest.mark.browser


def form_of(reader: Reader, name: str) -> Locator:
    open_agents(reader)
    dialog = reader.page.get_by_role("dialog")
    dialog.get_by_role("button", name=name).first.click()
    return dialog


def pick(reader: Reader, name: str) -> None:
    expect(reader.page.locator("#agents label").filter(has_text=name)).to_have_count(1)  # they are read
    reader.field.press_sequentially(f"@{name}")
    reader.field.press("Enter")
    expect(reader.page.locator("#agents summary")).to_have_attribute("aria-label", f"Agent: {name}")


def test_an_agent_is_given_options(reader: Reader, stack: Stack) -> None:
    reader.page.evaluate(POST, ["agents/", {"name": "Cartographer", "prompt": "You draw maps."}])
    dialog = form_of(reader, "Cartographer")
    expect(dialog.get_by_label("Temperature")).to_be_hidden()
    dialog.get_by_text("Options", exact=True).click()
    dialog.get_by_label("Temperature").fill("0.25")
    dialog.get_by_label("Reasoning").select_option("low")
    dialog.get_by_label("Format of the answer").select_option("JSON by a schema")
    dialog.get_by_label("JSON Schema").fill("{nothing")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").filter(has_text="no JSON Schema")).to_be_visible()
    assert violations_in_both_themes(reader.page) == []
    dialog.get_by_label("Format of the answer").select_option("")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("button", name="New agent")).to_be_visible()
    reader.page.keyboard.press("Escape")
    pick(reader, "Cartographer")
    body = asked(reader, stack, "Where is north?", index=0)
    assert (body["temperature"], body["reasoning_effort"]) == (0.25, "low")


def test_options_of_a_chat_begin_with_those_of_its_agent(reader: Reader, stack: Stack) -> None:
    made = {"name": "Navigator", "prompt": "", "options": {"temperature": 0.25, "reasoning_effort": "low"}}
    reader.page.evaluate(POST, ["agents/", made])
    reader.page.reload()
    reader.wait_until_ready()
    pick(reader, "Navigator")
    dialog = opened(reader)
    expect(dialog.get_by_label("Temperature")).to_have_value("0.25")
    dialog.get_by_role("button", name="own values").click()
    dialog.get_by_label("Reasoning").select_option("high")
    save(dialog)
    body = asked(reader, stack, "And south?", index=0)
    assert ("temperature" in body, body["reasoning_effort"]) == (False, "high")
    dialog = opened(reader)
    expect(dialog.get_by_label("Temperature")).to_have_value("")
    assert violations_in_both_themes(reader.page) == []
    dialog.get_by_role("button", name=re.compile("to the agent")).click()
    save(dialog)
    expect(reader.page.locator("#options")).to_have_attribute("aria-label", "Options")
    assert asked(reader, stack, "East, then?", index=1)["temperature"] == 0.25


def test_the_form_fits_a_phone(caller: Reader) -> None:
    made = {"name": "Surveyor", "prompt": "", "options": {"seed": 1}}
    caller.page.evaluate(POST, ["agents/", made])
    caller.page.get_by_role("button", name="Chats", exact=True).click()
    dialog = form_of(caller, "Surveyor")
    expect(dialog.get_by_label("Seed")).to_have_value("1")
    assert violations_in_both_themes(caller.page) == []
    assert caller.page.evaluate(STICKING_OUT) == []


@pytest.fixture
def pilot(reader: Reader) -> Locator:
    """The form of an agent, of twelve tools of a server; the page is told of them as the API tells."""
    page = reader.page
    about = "Reads level {n} of the tide."
    tools = [
        {"name": f"tides__get_level_{n}", "description": "", "summary": about.format(n=n), "read_only": True}
        for n in range(12)
    ]
    page.route("**/api/mcp-servers/", lambda route: route.fulfill(json=[{"name": "tides", "tools": tools}]))
    names = " ".join(["tides__*", *(str(tool["name"]) for tool in tools)])
    page.evaluate("names => (document.body.dataset.tools += ' ' + names)", names)
    page.evaluate(POST, ["agents/", {"name": "Pilot", "prompt": "", "tools": ["web_search"]}])
    return form_of(reader, "Pilot")


def test_an_agent_has_sections_and_tools_by_server_with_a_sentence_each_and_a_search(pilot: Locator) -> None:
    for heading in ("About", "Instructions", "Tools and knowledge", "Models", "Sharing"):
        expect(pilot.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    choice = pilot.get_by_role("group", name="Tools", exact=True)
    expect(choice.get_by_label("Web search")).to_be_checked()
    level = choice.get_by_label("Get level 7")
    choice.get_by_label("Search tools").fill("of the tide 7")
    expect(level).to_be_hidden()
    choice.get_by_label("Search tools").fill("level 7")
    expect(level).to_be_visible()
    expect(level).to_have_accessible_description("Reads level 7 of the tide.")
    expect(choice.get_by_role("checkbox")).to_have_count(1)


def test_all_tools_of_a_server_are_chosen_at_once_and_single_ones_are_kept(pilot: Locator) -> None:
    page = pilot.page
    choice = pilot.get_by_role("group", name="Tools", exact=True)
    choice.get_by_text("tides", exact=True).click()
    level = choice.get_by_label("Get level 7")
    level.check()
    everything = choice.get_by_label("All tools of tides")
    everything.check()
    expect(choice.get_by_label("Get level 3")).to_be_checked()
    expect(choice.get_by_label("Get level 3")).to_be_disabled()
    assert violations_in_both_themes(page) == []
    everything.uncheck()
    expect(choice.get_by_label("Get level 3")).not_to_be_checked()
    expect(level).to_be_checked()
    with page.expect_request("**/api/agents/*/") as sent:
        pilot.get_by_role("button", name="Save").click()
    assert sent.value.post_data_json["tools"] == ["web_search", "tides__get_level_7"]
