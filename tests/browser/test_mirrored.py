"""In Arabic, lines begin at the right, and so do the parts of the page; code, tables in English and formulas do not."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.fixture
def page(reader: Reader) -> Page:
    return in_arabic(reader)


@pytest.fixture
def phone(caller: Reader) -> Page:
    return in_arabic(caller)


def in_arabic(reader: Reader) -> Page:
    """The windows are used by other tests, so the cookie goes with the test (Reader.leave)."""
    reader.context.add_cookies([{"name": "django_language", "value": "ar", "url": reader.base_url}])
    reader.page.reload()
    expect(reader.page.locator("html")).to_have_attribute("dir", "rtl")
    expect(reader.page.locator("#composer-text")).to_be_focused()
    return reader.page


def left(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["x"]


def right(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["x"] + box["width"]


def test_the_parts_of_the_page_are_mirrored_and_code_is_not(page: Page, stack: Stack) -> None:
    stack.upstream.reply({"text": "Read this:\n\n```python\nx = 1\n```\n\nهذا نص عربي."})  # noqa: RUF001
    page.locator("#composer-text").fill("متى يأتي المد؟")
    page.locator("[data-send]").click()
    answer = page.locator("article.answer")
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(answer.get_by_text("هذا نص عربي.")).to_be_visible()
    assert left(page.locator("#sidebar")) >= right(page.locator("main")) - 1
    assert right(page.locator("[data-send]")) < left(page.locator("#options"))
    assert answer.locator("pre").evaluate("e => getComputedStyle(e).direction") == "ltr"
    assert answer.get_by_text("Read this:").evaluate("e => getComputedStyle(e).direction") == "ltr"
    account = page.locator("#account")
    account.click()
    assert right(page.get_by_role("menu")) == pytest.approx(right(account), abs=1)
    page.keyboard.press("Escape")
    assert violations_in_both_themes(page) == []


def test_the_drawer_of_a_phone_comes_from_the_right(phone: Page) -> None:
    page = phone
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#sidebar-toggle").click()
    sidebar = page.locator("#sidebar")
    expect(sidebar).to_be_in_viewport(ratio=1)
    assert right(sidebar) == 390
    assert left(sidebar) > 0
