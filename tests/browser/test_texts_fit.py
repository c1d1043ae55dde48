"""In every language, no text of a control sticks out of it, and no menu, card or dialog out of the window, from the narrowest
phone to the desktop."""

from collections.abc import Iterator

import pytest
from django.utils.translation import to_locale
from playwright.sync_api import Browser, Page, expect

from tests import messages
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser
WIDTHS = {"narrow": 320, "phone": 390, "tablet": 768, "desktop": 1280}
# German has the longest words, and is measured everywhere; the others where there is the least room.
MEASURED = [
    ("de", "narrow"),
    ("de", "phone"),
    ("de", "tablet"),
    ("de", "desktop"),
    ("ar", "narrow"),
    ("es", "narrow"),
    ("fr", "narrow"),
    ("zh-hans", "narrow"),
]

MENUS = {
    "#session-menu": ("Share", "Rename", "Tags"),
    "#account": ("Settings", "Agents", "Prompts", "Archived chats", "Trash", "Keyboard shortcuts"),
}

# Controls cut their text on purpose where they end it with "…"; what is scrolled sideways may be outside of the window.
STICKING_OUT = """async () => {
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
    const isScrolled = (element) => {
        for (let each = element.parentElement; each; each = each.parentElement)
            if (/auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth) return true;
        return false;
    };
    const found = [];
    for (const control of document.querySelectorAll("button, a, summary, label, select, h1, h2, th")) {
        if (!control.checkVisibility({ visibilityProperty: true }) || control.closest(".unseen, #skip")) continue;
        const box = control.getBoundingClientRect();
        if (box.width === 0) continue;
        const style = getComputedStyle(control);
        const isCut = style.display !== "inline" && style.textOverflow !== "ellipsis" && control.scrollWidth > control.clientWidth + 1;
        const isOutside = (box.left < -1 || box.right > innerWidth + 1) && !isScrolled(control);
        if (isCut || isOutside) found.push(`${isCut ? "cut" : "outside"}: ${control.tagName} ${control.id} ${control.className} ${control.textContent.trim().slice(0, 60)}`);
    }
    for (const card of document.querySelectorAll(".menu, dialog[open], .picker[open] > fieldset")) {
        const { left, right, top, bottom } = card.getBoundingClientRect();
        const height = document.documentElement.clientHeight, width = document.documentElement.clientWidth;
        if (left < -1 || right > width + 1 || top < -1 || bottom > height + 1) found.push(`outside: ${card.className} ${left} to ${right}, ${top} to ${bottom}`);
    }
    if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1) found.push("the page is wider than the window");
    return found;
}"""


@pytest.fixture
def abroad(width: str, browser: Browser, stack: Stack) -> Iterator[Reader]:
    """A newcomer's, who has nothing else, in a window of that width."""
    viewport, is_phone = {"width": WIDTHS[width], "height": 780}, WIDTHS[width] < 700
    with Reader.at(
        browser,
        stack.base_url,
        viewport=viewport,
        has_touch=is_phone,
        is_mobile=is_phone,
        reduced_motion="reduce",
    ) as reader:
        yield reader


@pytest.mark.parametrize(("language", "width"), MEASURED)
def test_controls_fit_their_texts(abroad: Reader, newcomer: str, language: str) -> None:
    page = abroad.page
    texts = messages.kept("djangojs", to_locale(language))
    abroad.log_in_by_cookie(newcomer)
    abroad.context.add_cookies([{"name": "django_language", "value": language, "url": abroad.base_url}])
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("#composer-text")).to_be_focused()
    found = {"empty page": page.evaluate(STICKING_OUT)}
    page.locator("#composer-text").fill("Wie hoch ist die Flut?")
    page.locator("[data-send]").click()
    expect(page.locator("article.answer")).to_have_attribute("aria-busy", "false")
    found["chat"] = page.evaluate(STICKING_OUT)
    for part in ("#agents summary", "#models summary", "#bases summary"):
        page.locator(part).click()
        found[part] = page.evaluate(STICKING_OUT)
        page.keyboard.press("Escape")
    page.locator("#options").click()
    found["options"] = in_dialog(page)
    page.locator("#tree-toggle").click()
    expect(page.locator(".tree-map [role=treeitem]")).to_have_count(2)
    found["tree"] = page.evaluate(STICKING_OUT)
    page.keyboard.press("Escape")
    expect(page.locator(".tree-map")).to_have_count(0)
    for menu, names in MENUS.items():
        found |= behind_menu(page, menu, *(texts.get(name).string for name in names))
    for path in ("profile/", "password/", "profile/logins/", "profile/deletion/", "password/reset/"):
        page.goto(f"{abroad.base_url}/{path}")
        found[path] = page.evaluate(STICKING_OUT)
    assert {name: lines for name, lines in found.items() if lines} == {}


def behind_menu(page: Page, button: str, *names: str) -> dict[str, list[str]]:
    """The menu, and the dialogs that it opens."""
    found = {}
    for name in names:
        if (
            page.locator(f"#sidebar {button}").count()
            and page.locator("#sidebar-toggle[aria-expanded=false]").count()
        ):
            page.locator("#sidebar-toggle").click()
        page.locator(button).click()
        found[button] = page.evaluate(STICKING_OUT)
        page.get_by_role("menuitem", name=name).click()
        found[name] = in_dialog(page)
    return found


def in_dialog(page: Page) -> list[str]:
    expect(page.get_by_role("dialog")).to_be_visible()
    found: list[str] = page.evaluate(STICKING_OUT)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    return found


@pytest.mark.parametrize("width", ["phone"])
def test_a_text_that_sticks_out_is_found(abroad: Reader, newcomer: str) -> None:
    abroad.log_in_by_cookie(newcomer)
    assert abroad.page.evaluate(STICKING_OUT) == []
    abroad.page.locator("#title").evaluate(
        "title => Object.assign(title.style, { width: '3ch', textOverflow: 'clip' })"
    )
    abroad.page.locator("[data-send]").evaluate("send => send.style.transform = 'translateX(90vw)'")
    assert len(abroad.page.evaluate(STICKING_OUT)) >= 2
