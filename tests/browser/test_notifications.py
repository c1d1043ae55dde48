"""Notifications of answers, by a class that replaces the browser's and records what is shown, and the entry that installs."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader, wait_for_script
from tests.browser.test_texts_fit import STICKING_OUT
from tests.stack import Stack

pytestmark = pytest.mark.browser

GRANTED, DENIED = "granted", "denied"
# The user's reply to the browser's question is `reply`.
BROWSER = """(reply) => {
    window.shown = [];
    window.asked = 0;
    window.Notification = class {
        static permission = "default";
        static async requestPermission() { asked++; return (this.permission = reply); }
        constructor(title, options) {
            this.title = title;
            Object.assign(this, options);
            if (Notification.permission === "granted") shown.push(this);
        }
        close() { this.isClosed = true; }
    };
}"""
HIDE = "(isHidden) => Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })"
SETTING = "Notify me of answers while this tab is hidden"


def setting(page: Page) -> Locator:
    return page.get_by_role("group", name=SETTING)


def open_settings(page: Page) -> None:
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    expect(setting(page)).to_be_visible()


def turn_on(page: Page) -> None:
    open_settings(page)
    expect(setting(page).get_by_label("Off", exact=True)).to_be_checked()
    setting(page).get_by_label("On", exact=True).click()


@pytest.fixture
def notified(reader: Reader) -> Iterator[Reader]:
    """With notifications on and allowed."""
    reader.page.evaluate(BROWSER, GRANTED)
    turn_on(reader.page)
    wait_for_script(reader.page, "asked === 1")
    reader.page.keyboard.press("Escape")
    yield reader
    reader.page.evaluate("delete document.hidden")


def hide(page: Page, *, is_hidden: bool = True) -> None:
    page.evaluate(HIDE, is_hidden)


@pytest.mark.core
def test_an_answer_in_a_hidden_tab_is_told_once_and_a_click_opens_its_chat(notified: Reader) -> None:
    page = notified.page
    hide(page)
    notified.send("How high is the tide?")
    wait_for_script(page, "shown.length === 1")
    notified.expect_echo("How high is the tide?")
    chat = page.evaluate("location.hash.slice(1)")
    told = page.evaluate("({ ...shown[0] })")
    assert (told["tag"], told["body"]) == (chat, "The answer is ready.")
    assert told["icon"].endswith(".png")
    assert "You said" not in told["title"]
    page.locator("#new-chat").click()
    expect(notified.questions).to_have_count(0)
    page.evaluate("shown[0].onclick()")
    notified.expect_echo("How high is the tide?")
    assert page.evaluate("[location.hash.slice(1), shown[0].isClosed, shown.length]") == [chat, True, 1]


def test_a_failed_answer_is_told_as_failed_and_a_visible_tab_tells_nothing(
    notified: Reader, stack: Stack
) -> None:
    page = notified.page
    notified.send("Seen")
    notified.expect_echo("Seen")
    assert page.evaluate("shown.length") == 0
    hide(page)
    stack.upstream.reply({"status": 400})
    notified.send("Fails")
    wait_for_script(page, "shown.length === 1")
    assert page.evaluate("shown[0].body") == "The answer failed."


def test_what_the_user_stopped_is_not_told(notified: Reader, stack: Stack) -> None:
    page = notified.page
    stack.upstream.reply({"text": "Two"}, {"hang": True}, times=1)
    notified.send("Why two tides?")
    notified.expect_partial_answer("Two")
    hide(page)
    notified.stop.click()
    expect(notified.answers.first).to_have_attribute("aria-busy", "false")
    # The next answer is told, and it is the first.
    notified.send("And now?")
    wait_for_script(page, "shown.length > 0")
    notified.expect_echo("And now?", index=1)
    assert page.evaluate("shown.map(({ body }) => body)") == ["The answer is ready."]


def test_the_setting_stays_until_it_is_turned_off(notified: Reader) -> None:
    page = notified.page
    open_settings(page)
    expect(setting(page).get_by_label("On", exact=True)).to_be_checked()
    setting(page).get_by_label("Off", exact=True).check()
    page.keyboard.press("Escape")
    hide(page)
    notified.send("Hello")
    notified.expect_echo("Hello")
    assert page.evaluate("shown.length") == 0
    open_settings(page)
    expect(setting(page).get_by_label("Off", exact=True)).to_be_checked()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"({BROWSER})('{DENIED}')", "Notifications are not allowed."),
        ("delete window.Notification", "This browser has no notifications for pages."),
        (
            "void (window.Notification = class { static permission = 'default'; constructor() { throw new TypeError(); } })",
            "This browser has no notifications for pages.",
        ),
    ],
    ids=["denied", "missing", "android"],
)
def test_notifications_that_cannot_be_stay_off_and_the_setting_says_why(
    reader: Reader, script: str, reason: str
) -> None:
    page = reader.page
    page.evaluate(script)
    turn_on(page)
    expect(setting(page).get_by_role("status")).to_contain_text(reason)
    expect(setting(page).get_by_label("Off", exact=True)).to_be_checked()
    assert page.evaluate("localStorage.getItem('turnwire.notifications')") == "off"
    assert violations_in_both_themes(page) == []


def test_the_reason_fits_on_a_phone_in_german(caller: Reader) -> None:
    page = caller.page
    caller.context.add_cookies([{"name": "django_language", "value": "de", "url": caller.base_url}])
    page.reload()
    expect(page.locator("#composer-text")).to_be_focused()
    page.evaluate(BROWSER, DENIED)
    page.locator("#sidebar-toggle").click()
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Einstellungen").click()
    group = page.get_by_role("group", name="Über Antworten benachrichtigen")
    group.get_by_label("An", exact=True).click()
    expect(group.get_by_role("status")).to_contain_text("nicht erlaubt")
    assert page.evaluate(STICKING_OUT) == []


def test_installing_is_in_the_menu_from_the_browsers_offer_until_it_is_taken(reader: Reader) -> None:
    page = reader.page
    entry = page.get_by_role("menuitem", name="Install")
    offer = """() => {
        window.prompts ??= 0;
        const offer = new Event("beforeinstallprompt", { cancelable: true });
        offer.prompt = async () => { prompts++; };
        dispatchEvent(offer);
        return offer.defaultPrevented;
    }"""

    def expect_entries(count: int) -> None:
        page.locator("#account").click()
        expect(page.get_by_role("menuitem", name="Settings")).to_be_visible()
        expect(entry).to_have_count(count)

    expect_entries(0)
    page.keyboard.press("Escape")
    assert page.evaluate(offer) is True
    expect_entries(1)
    entry.click()
    wait_for_script(page, "prompts === 1")
    expect_entries(0)
    page.keyboard.press("Escape")
    page.evaluate(offer)
    page.evaluate("dispatchEvent(new Event('appinstalled'))")
    expect_entries(0)


def test_the_browser_reads_the_manifest_and_finds_nothing_wrong(reader: Reader) -> None:
    session = reader.context.new_cdp_session(reader.page)
    read = session.send("Page.getAppManifest")
    assert read["url"] == f"{reader.base_url}/manifest.webmanifest"
    assert read["errors"] == []
    assert '"standalone"' in read["data"]
    session.detach()
