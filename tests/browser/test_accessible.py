"""axe has no findings on any page, on desktop and phone, in light and dark themes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.screenshots import scenes
from tests.screenshots.scenes import World
from tests.stack import Stack

pytestmark = pytest.mark.browser
DEVICES = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


@pytest.fixture(scope="module")
def world(windows: Windows, running_stack: Stack, lasting: None) -> Iterator[World]:
    """bob's chats, with everything that an answer can show."""
    running_stack.upstream.reset()
    running_stack.searching.reset()
    with windows.borrowed("bob") as reader:
        world = World(running_stack, reader.page)
        world.talk()
        yield world


@pytest.fixture(params=DEVICES)
def reader(request: pytest.FixtureRequest, browser: Browser, world: World) -> Iterator[Reader]:
    options = DEVICES[request.param]
    with Reader.at(browser, world.stack.base_url, reduced_motion="reduce", **options) as reader:
        reader.page.goto(f"{reader.base_url}/login/")
        yield reader
        assert reader.foreign_requests == []
        assert reader.errors == []


def test_every_screen_is_accessible(reader: Reader, world: World) -> None:
    page = reader.page
    found = {"login": violations_in_both_themes(page)}
    reader.log_in("bob", "bob")
    reader.wait_until_ready()
    found["empty page"] = violations_in_both_themes(page)
    for name, scene in scenes.SCENES.items():
        scene(page, world)
        found[name] = violations_in_both_themes(page)
    page.goto(f"{reader.base_url}/#{world.tools}")
    page.reload()
    expect(reader.answers.first).to_have_attribute("aria-busy", "false")
    unfold_all(page)
    found["everything unfolded"] = violations_in_both_themes(page)
    page.locator("#session-menu").click()
    found["menu"] = violations_in_both_themes(page)
    page.get_by_role("menuitem", name="Rename").click()
    found["question"] = violations_in_both_themes(page)
    page.keyboard.press("Escape")
    found |= sharing(reader)
    found |= dialogs(reader)
    found |= account_pages(reader)
    assert {name: lines for name, lines in found.items() if lines} == {}


def dialogs(reader: Reader) -> dict[str, list[str]]:
    """As opened, and after something was done in them."""
    page = reader.page
    scenes.account(page, "Agents")
    expect(page.get_by_role("dialog").get_by_role("button", name="New agent")).to_be_visible()
    found = {"agents": violations_in_both_themes(page)}
    page.keyboard.press("Escape")
    scenes.account(page, "Settings")
    settings = page.get_by_role("dialog")
    settings.get_by_role("button", name="New token").click()
    expect(settings.get_by_label("New token", exact=True)).to_be_focused()
    found["a new token"] = violations_in_both_themes(page)
    return found


def account_pages(reader: Reader) -> dict[str, list[str]]:
    found = {}
    for path in (
        "profile/",
        "profile/logins/",
        "profile/code/",
        "profile/passkeys/",
        "profile/deletion/",
        "password/",
    ):
        reader.page.goto(f"{reader.base_url}/{path}")
        found[path] = violations_in_both_themes(reader.page)
    return found


def sharing(reader: Reader) -> dict[str, list[str]]:
    """The owner's dialog, what others see, and what they see when it is over."""
    reader.choose_action("Share")
    dialog = reader.page.get_by_role("dialog")
    dialog.get_by_label("Show reasoning").check()
    dialog.get_by_role("button", name="Create a link").click()
    link = dialog.get_by_label("Link", exact=True).first
    expect(link).to_be_focused()
    found = {"share": violations_in_both_themes(reader.page)}
    shared = reader.second_tab()
    shared.goto(link.input_value())
    expect(shared.locator("article.answer .body")).not_to_be_empty()
    unfold_all(shared)
    found["shared"] = violations_in_both_themes(shared)
    dialog.get_by_role("button", name="Revoke").first.click()
    expect(dialog.get_by_label("Link", exact=True)).to_have_count(0)
    shared.reload()
    found["not shared any more"] = violations_in_both_themes(shared)
    reader.page.keyboard.press("Escape")
    return found


def unfold_all(page: Page) -> None:
    """Reasoning, tools, what is inside them."""
    for _ in range(3):
        page.evaluate(
            "for (const fold of document.querySelectorAll('#conversation details')) fold.open = true"
        )
        page.wait_for_timeout(50)
