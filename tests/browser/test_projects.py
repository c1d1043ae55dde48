"""Projects on the page: their list, their instructions and files in what models are asked, their chats, their address."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser

INSTRUCTIONS = "Always name the Moon."
SEA = {"name": "sea.md", "mimeType": "text/markdown", "buffer": b"# Sea\n\nThe flood reaches Husum at noon."}
COAST = {"name": "coast.txt", "mimeType": "text/plain", "buffer": b"The Hallig lies behind the dike."}


@pytest.fixture
def reader(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    """bob, who begins without projects."""
    with windows.borrowed("bob") as reader:
        delete_all(reader.page)
        yield reader


@pytest.fixture
def caller(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    """bob, with his phone."""
    with windows.borrowed("bob", **PHONE) as reader:
        delete_all(reader.page)
        yield reader


DELETE_ALL = """async () => {
    const headers = { "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1] };
    for (const path of ["projects", "sessions"]) {
        const found = await (await fetch(`/api/${path}/?limit=200`)).json();
        for (const { id } of found.results ?? found) await fetch(`/api/${path}/${id}/`, { method: "DELETE", headers });
    }
}"""


def delete_all(page: Page) -> None:
    page.evaluate(DELETE_ALL)
    expect(page.locator("#project-list li")).to_have_count(0)
    expect(page.locator("#sessions li")).to_have_count(0)


def row(page: Page, name: str) -> Locator:
    return page.locator("#project-list li").filter(has=page.get_by_role("link", name=name, exact=True))


def create(page: Page, name: str) -> None:
    page.get_by_role("button", name="New project", exact=True).click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.locator("#title")).to_have_text(name)


def instruct(page: Page, text: str) -> None:
    page.get_by_label("Instructions").fill(text)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_hidden()


def card(page: Page, name: str) -> Locator:
    return page.locator("#project .file-card").filter(has_text=name)


def add_files(page: Page, *files: dict[str, Any]) -> None:
    page.locator("#project input[type=file]").set_input_files(list(files))
    for file in files:
        expect(card(page, file["name"])).to_have_attribute("data-state", "ready")


def choose(page: Page, project: str, action: str) -> None:
    row(page, project).hover()
    row(page, project).get_by_role("button", name=f"Actions for “{project}”").click()
    page.get_by_role("menuitem", name=action).click()


def chats(page: Page) -> Locator:
    """The rows of the open project's list."""
    return page.locator("#project .session-list li")


def asked(stack: Stack, question: str) -> str:
    """The last request whose newest message holds the question, as text: that for a title of the chat may come later."""
    found = [one.messages for one in stack.upstream.requests if question in str(one.messages[-1])]
    return str(found[-1])


@pytest.mark.core
def test_a_question_in_a_project_is_asked_with_its_instructions_and_files(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    create(page, "Tides")
    expect(page).to_have_url(re.compile(r"#project/[0-9a-f-]{36}$"))
    expect(page.locator("#project")).to_contain_text("None yet.")
    instruct(page, INSTRUCTIONS)
    add_files(page, SEA, COAST)
    expect(page.locator("#project")).to_contain_text(
        re.compile(r"2 files · \d+ tokens · part of every question")
    )
    reader.send("When is the flood?")
    reader.expect_echo("When is the flood?")
    request = asked(stack, "When is the flood?")
    for text in (INSTRUCTIONS, "The flood reaches Husum at noon.", "The Hallig lies behind the dike."):
        assert text in request
    expect(page).to_have_url(re.compile(r"#[0-9a-f-]{36}$"))
    link = page.locator("#project-link")
    expect(link).to_have_text("Tides")
    link.click()
    expect(chats(page)).to_have_count(1)
    expect(chats(page)).to_contain_text("When is the flood?")


def test_a_project_is_shown_at_its_address_after_a_reload_and_on_the_way_back(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    instruct(page, INSTRUCTIONS)
    add_files(page, SEA)
    reader.send("Hello")
    reader.expect_echo("Hello")
    page.go_back()
    for _ in range(2):
        expect(page.locator("#title")).to_have_text("Tides")
        expect(page.get_by_label("Instructions")).to_have_value(INSTRUCTIONS)
        expect(card(page, "sea.md")).to_have_attribute("data-state", "ready")
        expect(chats(page)).to_have_count(1)
        expect(page.locator("#scroller")).to_be_hidden()
        page.reload()
    chats(page).get_by_role("link").click()
    reader.expect_echo("Hello")
    expect(page.locator("#project")).to_be_hidden()


def test_a_chat_is_moved_into_a_project_and_out_of_it(reader: Reader, stack: Stack) -> None:
    page = reader.page
    create(page, "Tides")
    instruct(page, INSTRUCTIONS)
    page.get_by_role("button", name="New chat").click()
    reader.send("Before")
    reader.expect_echo("Before")
    assert INSTRUCTIONS not in asked(stack, "Before")
    reader.choose_action("Move to a project")
    page.get_by_role("dialog").get_by_role("button", name="Tides").click()
    expect(page.locator("#project-link")).to_have_text("Tides")
    reader.send("Within")
    reader.expect_echo("Within", index=1)
    assert INSTRUCTIONS in asked(stack, "Within")
    page.locator("#project-link").click()
    expect(chats(page)).to_have_count(1)
    chats(page).hover()
    chats(page).get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Take out of its project").click()
    expect(chats(page)).to_have_count(0)
    page.locator("#sessions li").get_by_role("link").click()
    expect(page.locator("#project-link")).to_be_hidden()
    expect(reader.answers).to_have_count(2)  # the chat is open
    reader.send("After")
    reader.expect_echo("After", index=2)
    assert INSTRUCTIONS not in asked(stack, "After")


def test_a_chat_is_moved_to_a_project_created_for_it(reader: Reader) -> None:
    page = reader.page
    reader.send("Hello")
    reader.expect_echo("Hello")
    reader.choose_action("Move to a project")
    page.get_by_role("dialog").get_by_role("button", name="New project").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Moons")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.locator("#project-link")).to_have_text("Moons")
    expect(row(page, "Moons")).to_have_count(1)


def test_deleting_a_project_says_what_becomes_of_its_chats_and_files(reader: Reader) -> None:
    page = reader.page
    for name, keeps in (("Kept", True), ("Gone", False)):
        create(page, name)
        add_files(page, {**SEA, "name": f"{name}.md"})
        reader.send(f"In {name}")
        reader.expect_echo(f"In {name}")
        page.locator("#project-link").click()
        choose(page, name, "Delete")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Its chats stay")
        box = dialog.get_by_label("Delete its 1 file for good")
        expect(box).to_be_checked()
        box.set_checked(not keeps)
        dialog.get_by_role("button", name="Delete").click()
        expect(page.locator("#title")).to_have_text("New chat")
        expect(row(page, name)).to_have_count(0)
    files = page.evaluate(
        "async () => (await (await fetch('/api/files/')).json()).results.map(({ name }) => name)"
    )
    assert "Kept.md" in files
    assert "Gone.md" not in files
    page.locator("#sessions li").filter(has_text="In Gone").get_by_role("link").click()
    reader.expect_echo("In Gone")
    expect(page.locator("#project-link")).to_be_hidden()


def test_the_address_of_a_project_that_is_gone_leads_to_a_new_chat(reader: Reader) -> None:
    reader.page.goto(f"{reader.base_url}/#project/00000000-0000-4000-8000-000000000000")
    expect(reader.page).to_have_url(f"{reader.base_url}/#")
    expect(reader.page.locator("#welcome")).to_be_visible()


def test_every_tab_shows_what_another_one_does_with_a_project(reader: Reader, windows: Windows) -> None:
    page = reader.page
    create(page, "Tides")
    with windows.borrowed("bob") as elsewhere:
        there = elsewhere.page
        row(there, "Tides").get_by_role("link").click()
        instruct(page, INSTRUCTIONS)
        expect(there.get_by_label("Instructions")).to_have_value(INSTRUCTIONS)
        add_files(page, SEA)
        expect(card(there, "sea.md")).to_have_attribute("data-state", "ready")
        expect(there.locator("#project")).to_contain_text("1 file ·")
        reader.send("Hello")
        expect(chats(there)).to_contain_text("Hello")
        there.get_by_label("Instructions").fill("Not saved")
        page.locator("#project-link").click()
        choose(page, "Tides", "Rename")
        page.get_by_role("dialog").get_by_label("Name").fill("Moons")
        page.get_by_role("dialog").get_by_role("button", name="Rename").click()
        expect(there.locator("#title")).to_have_text("Moons")
        expect(there.get_by_label("Instructions")).to_have_value("Not saved")
        there.get_by_role("button", name="Cancel").click()
        expect(there.get_by_label("Instructions")).to_have_value(INSTRUCTIONS)
        card(page, "sea.md").get_by_role("button", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(card(there, "sea.md")).to_have_count(0)
        choose(page, "Moons", "Delete")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(there.locator("#title")).to_have_text("New chat")
        expect(row(there, "Moons")).to_have_count(0)


def test_instructions_that_are_not_saved_stay_while_something_else_is_shown(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    instruct(page, INSTRUCTIONS)
    create(page, "Moons")
    expect(page.get_by_label("Instructions")).to_have_value("")
    page.get_by_label("Instructions").fill("Not saved")
    row(page, "Tides").get_by_role("link").click()
    expect(page.get_by_label("Instructions")).to_have_value(INSTRUCTIONS)
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    page.go_back()
    expect(page.get_by_label("Instructions")).to_have_value("Not saved")
    page.get_by_label("Instructions").press("Control+Enter")
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    page.reload()
    expect(page.get_by_label("Instructions")).to_have_value("Not saved")


FILL = """async (count) => {
    const headers = { "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1], "Content-Type": "application/json" };
    const body = JSON.stringify({ title: "Filled", project: location.hash.slice("#project/".length) });
    await Promise.all(Array.from({ length: count }, () => fetch("/api/sessions/", { method: "POST", headers, body })));
}"""


def test_older_chats_of_a_project_come_as_its_page_is_scrolled(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    page.evaluate(FILL, 60)
    page.reload()
    expect(chats(page)).to_have_count(50)
    chats(page).last.scroll_into_view_if_needed()
    expect(chats(page)).to_have_count(60)
    expect(page.locator("#project").get_by_role("button", name="Show older chats")).to_be_hidden()


def test_a_file_dropped_on_the_files_of_a_project_becomes_one_of_them(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    # The page of a project comes with the first one that is opened, after its title.
    page.locator("#project .file-cards").wait_for(state="attached")
    page.evaluate(DROP, "dropped.txt")
    expect(card(page, "dropped.txt")).to_have_attribute("data-state", "ready")
    card(page, "dropped.txt").get_by_role("button", name="dropped.txt").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Two tides a day.")
    page.keyboard.press("Escape")
    expect(page.locator("#composer .file-card")).to_have_count(0)
    page.reload()
    expect(card(page, "dropped.txt")).to_have_attribute("data-state", "ready")


DROP = """(name) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["Two tides a day."], name, { type: "text/plain" }));
    const target = document.querySelector("#project .file-cards").closest("section");
    for (const type of ["dragenter", "dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
}"""


def test_the_list_of_projects_is_used_by_keyboard(reader: Reader) -> None:
    page = reader.page
    for name in ("One", "Two", "Three"):
        create(page, name)
    fold = page.get_by_role("button", name="Projects", exact=True)
    fold.focus()
    for key in ("Tab", "Tab", "Home", "ArrowDown"):
        page.keyboard.press(key)
    expect(row(page, "Two").get_by_role("link")).to_be_focused()
    page.keyboard.press("F2")
    # The dialog is loaded when it is first needed.
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    page.keyboard.type("A better name")
    page.keyboard.press("Enter")
    expect(row(page, "A better name")).to_have_count(1)
    row(page, "One").get_by_role("link").focus()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(page, "One")).to_have_count(0)
    row(page, "A better name").get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("A better name")
    expect(row(page, "A better name").get_by_role("link")).to_have_attribute("aria-current", "page")
    fold.press("Enter")
    expect(row(page, "Three")).to_be_hidden()
    page.reload()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(row(page, "Three")).to_be_hidden()


def test_a_project_is_used_on_a_phone(caller: Reader) -> None:
    page = caller.page
    page.locator("#sidebar-toggle").click()
    create(page, "Tides")
    instruct(page, INSTRUCTIONS)
    add_files(page, SEA)
    caller.send("Hello")
    caller.expect_echo("Hello")
    page.locator("#project-link").click()
    expect(chats(page)).to_have_count(1)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    assert violations_in_both_themes(page) == []


def test_projects_are_accessible(reader: Reader) -> None:
    page = reader.page
    page.get_by_role("button", name="New project", exact=True).click()
    found = {"new": violations_in_both_themes(page)}
    page.keyboard.press("Escape")
    create(page, "Tides")
    found["empty"] = violations_in_both_themes(page)
    page.get_by_label("Instructions").fill(INSTRUCTIONS)
    found["edited"] = violations_in_both_themes(page)
    page.get_by_role("button", name="Save").click()
    add_files(page, SEA, COAST)
    reader.send("Hello")
    reader.expect_echo("Hello")
    found["chat"] = violations_in_both_themes(page)
    reader.choose_action("Move to another project")
    found["choice"] = violations_in_both_themes(page)
    page.keyboard.press("Escape")
    page.locator("#project-link").click()
    expect(chats(page)).to_have_count(1)
    found["project"] = violations_in_both_themes(page)
    choose(page, "Tides", "Delete")
    found["deletion"] = violations_in_both_themes(page)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_project_whose_chats_are_all_pinned_has_chats(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    none = page.get_by_text("None yet. What you write below begins one.")
    expect(none).to_be_visible()
    reader.send("Hello")
    reader.expect_echo("Hello")
    reader.choose_action("Pin")
    page.locator("#project-link").click()
    expect(chats(page)).to_have_count(1)
    expect(none).to_be_hidden()
