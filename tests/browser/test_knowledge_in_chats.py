"""Knowledge bases in chats: bound, picked for one message, and cited; by keyboard, on a phone, and accessible."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.knowledge_scene import (
    FLOOD,
    SEARCH,
    TIDES,
    add_member,
    add_text,
    create,
    keeper,
    open_section,
    pick,
    search,
)
from tests.browser.reader import Reader
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack
from tests.tool_fixtures import tool_responses

pytestmark = pytest.mark.browser


@pytest.fixture
def reader(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    with keeper(windows) as reader:
        yield reader


@pytest.fixture
def caller(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    with keeper(windows, **PHONE) as reader:
        yield reader


def offered(stack: Stack) -> list[str]:
    """The tools of the last request to a model."""
    return [tool["function"]["name"] for tool in stack.upstream.requests[-1].body.get("tools", [])]


def test_a_question_on_the_page_of_a_base_is_answered_from_it_and_its_citation_opens_the_passage(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", TIDES)
    stack.upstream.reply(SEARCH, times=1)
    stack.upstream.reply({"text": "At noon [1]."})
    reader.send("When is the flood?")
    reader.expect_answer("At noon 1.")
    [response] = tool_responses(stack.upstream.requests[-1])
    assert FLOOD in json.dumps(json.loads(response))
    expect(page.locator("#bases summary")).to_have_attribute("aria-label", "Knowledge bases: Tides")
    for _ in range(2):
        expect(reader.answers.locator(".steps")).to_contain_text("Searched knowledge bases")
        reader.answers.locator(".body .citation-chip").click()
        expect(page.locator("dialog mark")).to_be_in_viewport()
        page.keyboard.press("Escape")
        page.reload()
    reader.answers.locator(".sources .document-card").click()
    expect(page.get_by_role("dialog")).to_contain_text("The sea comes and goes.")


def test_a_base_is_picked_for_a_chat_and_another_for_one_message(reader: Reader, stack: Stack) -> None:
    page = reader.page
    for name in ("Tides", "Law"):
        create(page, name)
        add_text(page, f"About {name}", FLOOD)
    page.get_by_role("button", name="New chat").click()
    pick(page, "Tides", "In this chat")
    pick(page, "Law", "Next message only")
    summary = page.locator("#bases summary")
    expect(summary).to_have_attribute("aria-label", "Only from: Law")
    reader.send("What is the law?")
    reader.expect_echo("What is the law?")
    assert "knowledge_base_search" in offered(stack)
    expect(reader.questions.first).to_contain_text("Only from 1 picked knowledge base")
    expect(summary).to_have_attribute("aria-label", "Knowledge bases: Tides")
    reader.send("And the tides?")
    reader.expect_echo("And the tides?", index=1)
    again = "Searches 1 knowledge base again that was picked before: Law"
    expect(reader.questions.nth(1)).not_to_contain_text("Only from")
    expect(reader.questions.nth(1)).to_contain_text(again)
    page.reload()
    expect(reader.questions.nth(1)).to_contain_text(again)
    expect(summary).to_have_attribute("aria-label", "Knowledge bases: Tides")
    summary.click()
    page.locator("#bases").get_by_role("checkbox", name="Tides").uncheck()
    page.keyboard.press("Escape")
    expect(summary).to_have_attribute("aria-label", "Knowledge bases: none")
    reader.send("And now?")
    reader.expect_echo("And now?", index=2)
    expect(reader.questions.nth(2)).to_contain_text(again)
    assert "knowledge_base_search" in offered(stack)


def test_an_agent_brings_its_knowledge_bases(reader: Reader, stack: Stack) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", FLOOD)
    page.get_by_role("button", name="New chat").click()
    page.locator("#agents summary").click()
    page.locator("#agents").get_by_role("button", name="Agents…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="New agent").click()
    dialog.get_by_label("Name").fill("Keeper of the tides")
    dialog.get_by_role("checkbox", name="Tides").check()
    dialog.get_by_role("button", name="Save").click()
    dialog.get_by_role("button", name="Keeper of the tides").first.click()
    expect(dialog.get_by_role("checkbox", name="Tides")).to_be_checked()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("#agents summary").click()
    page.locator("#agents").get_by_role("radio", name="Keeper of the tides").check()
    page.keyboard.press("Escape")
    reader.send("When is the flood?")
    reader.expect_echo("When is the flood?")
    assert "knowledge_base_search" in offered(stack)


@pytest.mark.core
def test_a_restricted_member_asks_and_sees_no_sources(reader: Reader, stack: Stack, windows: Windows) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", TIDES)
    add_member(page, "bob", "Restricted")
    expect(page.locator(".members li")).to_have_count(2)
    with windows.borrowed("bob") as other:
        open_section(other.page)
        other.page.locator(".base-rows").get_by_role("link", name="Tides").click()
        expect(other.page.locator(".protected")).to_be_visible()
        stack.upstream.reply(SEARCH, contains="When is the flood?", times=1)
        other.send("When is the flood?")
        expect(other.answers.first).to_have_attribute("aria-busy", "false")
        expect(other.answers.locator(".sources")).to_be_hidden()
        expect(other.answers.locator(".document-card")).to_have_count(0)
        expect(other.page.locator("main")).not_to_contain_text("Tide tables")


def focus(element: Locator) -> None:
    """Focus an element as soon as it is shown: a hidden one takes no focus, and Playwright would not wait for it. The
    page of a base is in the document before it is shown, and is shown a few milliseconds after its link is used."""
    expect(element).to_be_visible()
    element.focus()
    expect(element).to_be_focused()


def test_knowledge_bases_are_used_by_keyboard(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", FLOOD)
    page.get_by_role("button", name="New chat").click()
    expect(reader.field).to_be_focused()
    focus(page.locator("#knowledge-link"))
    page.keyboard.press("Enter")
    focus(page.locator(".base-rows").get_by_role("link", name="Tides"))
    page.keyboard.press("Enter")
    focus(page.get_by_label("Search this knowledge base"))
    page.keyboard.type("flood")
    page.keyboard.press("Enter")
    expect(page.locator(".hits li")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".hits button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog mark")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".hits button")).to_be_focused()


def test_the_picker_of_knowledge_bases_is_used_by_keyboard(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    summary = page.locator("#bases summary")
    focus(summary)
    page.keyboard.press("Enter")
    expect(page.locator("#bases").get_by_role("checkbox", name="Tides")).to_be_checked()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#bases").get_by_role("checkbox", name="Tides")).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(summary).to_be_focused()
    expect(summary).to_have_attribute("aria-label", "Knowledge bases: none")


def test_knowledge_bases_are_used_on_a_phone(caller: Reader) -> None:
    page = caller.page
    page.locator("#sidebar-toggle").click()
    create(page, "Tides")
    add_text(page, "Tide tables", TIDES)
    search(page, "flood").first.get_by_role("button").click()
    expect(page.locator("dialog mark")).to_be_in_viewport()
    assert violations_in_both_themes(page) == []
    page.keyboard.press("Escape")
    page.locator("#bases summary").click()
    expect(page.locator("#bases > fieldset")).to_be_in_viewport(ratio=1)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    assert violations_in_both_themes(page) == []


def test_knowledge_bases_are_accessible(reader: Reader) -> None:
    page = reader.page
    open_section(page)
    found = {"none": violations_in_both_themes(page)}
    page.get_by_role("button", name="New knowledge base").click()
    found["new"] = violations_in_both_themes(page)
    page.keyboard.press("Escape")
    create(page, "Tides")
    found["empty"] = violations_in_both_themes(page)
    add_text(page, "Tide tables", TIDES)
    expect(search(page, "flood")).not_to_have_count(0)
    found["base"] = violations_in_both_themes(page)
    page.locator("#knowledge").get_by_role("button", name="Edit").click()
    found["form"] = violations_in_both_themes(page)
    page.keyboard.press("Escape")
    page.locator("#knowledge .back").click()
    expect(page).to_have_url(re.compile(r"#knowledge$"))
    found["list"] = violations_in_both_themes(page)
    page.locator("#bases summary").click()
    expect(page.locator("#bases").get_by_role("checkbox", name="Tides")).to_be_visible()
    found["picker"] = violations_in_both_themes(page)
    assert {name: lines for name, lines in found.items() if lines} == {}
