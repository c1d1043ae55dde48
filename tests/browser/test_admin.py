"""Staff in a real browser: our own pages of the admin are readable by everybody, wide and narrow, light and dark, and
nothing in them is refused by the content policy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import admin_scene
from tests.browser.accessible import violations_in_both_themes
from tests.browser.admin_scene import PHONE, Scene
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser
OURS = (
    "tree",
    "run",
    "failed",
    "cycle",
    "usage",
    "workers",
    "search",
    "runs",
    "files",
    "file",
    "broken",
    "project",
)


@pytest.fixture(scope="module")
def scene(running_stack: Stack, lasting: None) -> Scene:
    running_stack.upstream.reset()
    return admin_scene.play(running_stack)


@pytest.fixture
def tester(browser: Browser, stack: Stack, scene: Scene) -> Iterator[Reader]:
    """Runs axe; its own inline styles are blocked by the content security policy."""
    with admin_scene.staff(browser, stack) as reader:
        yield reader
        assert reader.foreign_requests == []


@pytest.fixture
def staff(browser: Browser, stack: Stack, scene: Scene) -> Iterator[Reader]:
    with admin_scene.staff(browser, stack) as reader:
        yield reader
        assert reader.foreign_requests == []
        assert reader.errors == []


def test_our_pages_can_be_read_by_everybody(tester: Reader, stack: Stack, scene: Scene) -> None:
    page, found = tester.page, {}
    for name in OURS:
        admin_scene.visit(page, stack, scene.pages[name])
        admin_scene.open_some(page, name)
        found[name] = violations_in_both_themes(page)
        page.set_viewport_size(PHONE)
        found[f"{name} on a phone"] = violations_in_both_themes(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{name} is {width} wide on a phone"
        page.set_viewport_size(admin_scene.WIDE)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_tree_is_walked_and_led_from_to_what_the_model_was_sent(
    staff: Reader, stack: Stack, scene: Scene
) -> None:
    page = staff.page
    admin_scene.visit(page, stack, scene.pages["tree"])
    texts = page.locator(".tree > ol > .tree-message > .text")
    expect(texts).to_contain_text(["two tides", "two bulges", "other planets?", "", "matters most?", ""])
    sun = page.locator(".fork .text").filter(has_text="And the Sun?")
    expect(sun).to_be_hidden()
    page.locator(".fork summary").first.click()
    expect(sun).to_be_visible()
    page.get_by_role("link", name="Open this branch").first.click()
    expect(texts.nth(2)).to_have_text("And the Sun?")
    page.locator(".tree-message.assistant a.status").first.click()
    expect(page.get_by_role("heading", name="What became of it")).to_be_visible()
    expect(page.locator(".timeline rect").first).to_be_visible()
    page.get_by_role("link", name="cycle 2").first.click()
    expect(page.locator(".parts > .part-tr pre").first).to_contain_text("UTC")
    page.get_by_text("messages that the request before it began with").click()
    expect(page.locator(".parts > .part-s pre")).to_be_visible()
