"""axe finds nothing: on every screen, on a desktop and on a phone, in light and dark."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import violations
from tests.browser.reader import Reader
from tests.screenshots import scenes
from tests.screenshots.scenes import World
from tests.stack import Stack

pytestmark = pytest.mark.browser
DEVICES = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


@pytest.fixture(scope="module")
def world(browser: Browser, running_stack: Stack) -> Iterator[World]:
    """bob's chats: everything an answer can show."""
    running_stack.upstream.reset()
    running_stack.searching.reset()
    with Reader.at(browser, running_stack.base_url) as reader:
        reader.log_in("bob", "bob")
        reader.is_let_in()
        world = World(running_stack, reader.page)
        world.talk()
        yield world


@pytest.fixture(params=DEVICES)
def reader(request: pytest.FixtureRequest, browser: Browser, world: World) -> Iterator[Reader]:
    options = DEVICES[request.param]
    with Reader.at(browser, world.stack.base_url, reduced_motion="reduce", **options) as reader:
        reader.page.goto(f"{reader.base_url}/login/")
        yield reader
        assert reader.strangers == []
        assert reader.complaints == []


def test_every_screen_is_accessible(reader: Reader, world: World) -> None:
    page = reader.page
    found = {"login": both_schemes(page)}
    reader.log_in("bob", "bob")
    reader.is_let_in()
    found["empty page"] = both_schemes(page)
    for name, scene in scenes.SCENES.items():
        scene(page, world)
        found[name] = both_schemes(page)
    page.goto(f"{reader.base_url}/#{world.tools}")
    page.reload()
    expect(reader.answers.first).to_have_attribute("aria-busy", "false")
    unfold_all(page)
    found["everything unfolded"] = both_schemes(page)
    page.locator("#session-menu").click()
    found["menu"] = both_schemes(page)
    page.get_by_role("menuitem", name="Rename").click()
    found["question"] = both_schemes(page)
    assert {name: lines for name, lines in found.items() if lines} == {}


def unfold_all(page: Page) -> None:
    """Reasoning, tools, what is inside them."""
    for _ in range(3):
        page.evaluate(
            "for (const fold of document.querySelectorAll('#conversation details')) fold.open = true"
        )
        page.wait_for_timeout(50)


def both_schemes(page: Page) -> list[str]:
    """Everything in the light, and the contrasts in the dark."""
    page.emulate_media(color_scheme="light")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark {line}" for line in violations(page, only="color-contrast")]
    page.emulate_media(color_scheme="light")
    return found
