"""Knowledge bases at the page: what a user does with them in several files of tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.reader import Reader
from tests.browser.windows import Windows

# A call by a model, which finds FLOOD in TIDES.
SEARCH = {"call": {"name": "knowledge_base_search", "arguments": {"query": "flood in Husum"}}}
# Documents are read, and their vectors computed, at the lowest priority: whatever else the machine does comes first.
READ_MS = 120_000
FLOOD = "The flood reaches Husum at noon and leaves at six."
TIDES = (
    "# Tides\n\n" + "The sea comes and goes.\n\n" * 60 + FLOOD + "\n\n" + "Nothing else is known.\n\n" * 60
)


@contextmanager
def keeper(windows: Windows, **look: object) -> Iterator[Reader]:
    """carol, who begins without knowledge bases."""
    with windows.borrowed("carol", **look) as reader:
        delete_all(reader.page)
        yield reader


DELETE_ALL = """async () => {
    const headers = { "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1] };
    for (const path of ["knowledge-bases", "sessions"]) {
        const found = await (await fetch(`/api/${path}/?limit=200`)).json();
        for (const { id } of found.results ?? found) await fetch(`/api/${path}/${id}/`, { method: "DELETE", headers });
    }
}"""


def delete_all(page: Page) -> None:
    page.evaluate(DELETE_ALL)
    expect(page.locator("#sessions li")).to_have_count(0)


def open_section(page: Page) -> None:
    page.locator("#knowledge-link").click()
    expect(page.locator("#title")).to_have_text("Knowledge")


def create(page: Page, name: str) -> None:
    open_section(page)
    page.get_by_role("button", name="New knowledge base").click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.locator("#title")).to_have_text(name)


def document(page: Page, title: str) -> Locator:
    return page.locator(".documents li").filter(has_text=title)


def expect_state(page: Page, title: str, state: str) -> None:
    expect(document(page, title)).to_have_attribute("data-state", state, timeout=READ_MS)


def add_text(page: Page, title: str, text: str) -> None:
    page.get_by_role("button", name="Add documents").click()
    page.get_by_role("menuitem", name="Text").click()
    page.get_by_role("dialog").get_by_label("Title").fill(title)
    page.get_by_role("dialog").get_by_role("textbox", name="Text").fill(text)
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect_state(page, title, "ready")


def add_files(page: Page, *files: dict[str, Any]) -> None:
    page.locator("#knowledge input[type=file]").set_input_files(list(files))


def add_member(page: Page, user: str, role: str) -> None:
    page.get_by_label("User name").fill(user)
    page.locator("#knowledge .inviting select").select_option(label=role)
    page.locator("#knowledge").get_by_role("button", name="Add", exact=True).click()


def member(page: Page, user: str) -> Locator:
    return page.locator(".members li").filter(has_text=user)


def invitation(page: Page, base: str) -> Locator:
    """In the list of the section, which tells of it when it is opened."""
    return page.get_by_role("list", name="Invitations").get_by_role("listitem").filter(has_text=base)


def search(page: Page, words: str) -> Locator:
    page.get_by_label("Search this knowledge base").fill(words)
    page.get_by_label("Search this knowledge base").press("Enter")
    return page.locator(".hits li")


def pick(page: Page, base: str, when: str) -> None:
    page.locator("#bases summary").click()
    page.locator("#bases").get_by_label(when).check()
    page.locator("#bases").get_by_role("checkbox", name=base).check()
    page.keyboard.press("Escape")


def choose(page: Page, title: str, action: str) -> None:
    document(page, title).get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name=action).click()
