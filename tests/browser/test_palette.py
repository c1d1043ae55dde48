"""The palette: one field that finds chats, actions, agents, projects and knowledge bases."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader

pytestmark = pytest.mark.browser


def open_palette(page: Page) -> Locator:
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find chats and actions")
    expect(field).to_be_focused()
    return field


def marked(field: Locator) -> Locator:
    """Return the option that the field names to screen readers."""
    expect(field).to_have_attribute("aria-activedescendant", re.compile("palette-"))
    return field.page.locator("dialog.palette [role=option][aria-selected=true]")


def test_a_chat_is_found_by_its_text_and_opened_by_keyboard(reader: Reader) -> None:
    page = reader.page
    reader.send("The heron stands in the reeds")
    reader.expect_echo("The heron stands in the reeds")
    page.locator("#new-chat").click()
    reader.send("Something else")
    reader.expect_echo("Something else")
    field = open_palette(page)
    field.fill("heron")
    chats = page.get_by_role("group", name="Chats", exact=True)
    expect(chats.get_by_role("option")).to_have_count(1)
    expect(chats.locator("mark")).to_have_text("heron")
    expect(marked(field)).to_contain_text("heron")
    assert violations_in_both_themes(page) == []
    field.press("Enter")
    expect(page.locator("dialog.palette")).to_have_count(0)
    expect(reader.questions.first).to_contain_text("The heron stands in the reeds")
    expect(page.locator("#find")).to_be_visible()


def test_entries_of_the_menus_are_found_and_run_by_keyboard_and_mouse(reader: Reader) -> None:
    page = reader.page
    reader.send("About herons")
    reader.expect_echo("About herons")
    field = open_palette(page)
    of_chat = page.get_by_role("group", name="Actions for this chat")
    expect(of_chat.get_by_role("option", name="Export as Markdown")).to_be_visible()
    field.fill("dark")
    expect(marked(field)).to_have_text("Theme: Dark")
    field.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    field = open_palette(page)
    field.fill("chat arch")
    page.get_by_role("option", name="Archived chats").click()
    expect(page.get_by_role("dialog", name="Archived chats")).to_be_visible()
    page.keyboard.press("Escape")
    open_palette(page).fill("language")
    page.get_by_role("option", name="Settings").click()
    expect(page.get_by_role("dialog", name="Settings")).to_be_visible()


def test_arrows_go_round_and_the_shortcut_closes_what_it_opened(reader: Reader) -> None:
    page = reader.page
    reader.send("Begun before")
    reader.expect_echo("Begun before")
    field = open_palette(page)
    first = marked(field).inner_text()
    field.press("ArrowUp")
    expect(page.locator("dialog.palette [role=option]").last).to_have_attribute("aria-selected", "true")
    field.press("ArrowDown")
    assert marked(field).inner_text() == first
    field.fill("nothing is called like this")
    expect(page.locator("dialog.palette").get_by_role("status")).to_have_text("Nothing has this")
    expect(field).not_to_have_attribute("aria-activedescendant", re.compile("."))
    field.press("Control+k")
    expect(page.locator("dialog.palette")).to_have_count(0)
    expect(reader.field).to_be_focused()


def test_it_begins_chats_with_agents_and_opens_projects_and_knowledge_bases(reader: Reader) -> None:
    page = reader.page
    page.evaluate(
        """async () => {
            const token = document.querySelector("#logout [name=csrfmiddlewaretoken]").value;
            const create = (path, body) => fetch(`/api/${path}/`, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-CSRFToken": token } });
            await create("agents", { name: "Heron expert", prompt: "You know herons." });
            await create("projects", { name: "Heron project" });
            await create("knowledge-bases", { name: "Heron base" });
        }"""
    )
    page.reload()
    reader.wait_until_ready()
    reader.send("About reeds")
    reader.expect_echo("About reeds")
    open_palette(page).fill("heron")
    page.get_by_role("group", name="New chat with an agent").get_by_role(
        "option", name="Heron expert"
    ).click()
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator("#agents summary")).to_have_attribute("aria-label", "Agent: Heron expert")
    for group, name in [("Projects", "Heron project"), ("Knowledge bases", "Heron base")]:
        open_palette(page).fill("heron")
        page.get_by_role("group", name=group).get_by_role("option", name=name).click()
        expect(page.locator("#title")).to_have_text(name)
    open_palette(page).fill("temporary")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Temporary chat")).to_have_attribute("aria-pressed", "true")


def test_on_a_phone_it_opens_from_the_drawer_and_fits(caller: Reader) -> None:
    page = caller.page
    page.locator("#sidebar-toggle").tap()
    page.get_by_role("button", name="Find chats and actions").tap()
    palette = page.locator("dialog.palette")
    expect(palette).to_be_visible()
    expect(page.locator("body")).not_to_have_class(re.compile("with-drawer"))
    box = palette.bounding_box()
    assert box is not None
    assert box["x"] == 0
    assert box["width"] == page.evaluate("innerWidth")
    assert violations_in_both_themes(page) == []
    page.get_by_role("option", name="Trash").tap()
    expect(page.get_by_role("dialog", name="Trash")).to_be_visible()
