"""The frame of the page: menus, dialogs, settings, agents, the drawer, the connection, the login."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader

pytestmark = pytest.mark.browser


def dialog(reader: Reader) -> Locator:
    return reader.page.get_by_role("dialog")


def from_account(reader: Reader, name: str) -> Locator:
    """By keyboard: the menu, the first letter, Enter."""
    reader.page.locator("#account").focus()
    reader.page.keyboard.press("Enter")
    expect(reader.page.get_by_role("menuitem").first).to_be_focused()
    reader.page.keyboard.press(name[0].lower())
    reader.page.keyboard.press("Enter")
    expect(dialog(reader)).to_be_visible()
    return dialog(reader)


def test_the_first_stop_of_tab_skips_to_the_message_and_menus_have_their_keys(reader: Reader) -> None:
    page, keys = reader.page, reader.page.keyboard
    first = page.locator("a, button, input, textarea").first
    expect(first).to_have_id("skip")
    first.focus()
    keys.press("Enter")
    expect(reader.field).to_be_focused()

    page.locator("#account").focus()
    keys.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Log out")).to_be_focused()
    keys.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Settings")).to_be_focused()
    keys.press("Escape")
    expect(page.locator("#account")).to_be_focused()
    expect(page.get_by_role("menu")).to_have_count(0)


def test_theme_and_language_are_kept_there_from_the_first_byte_and_in_every_tab(reader: Reader) -> None:
    page = reader.page
    other = reader.second_tab()
    settings = from_account(reader, "Settings")
    settings.get_by_label("Dark").check()
    for tab in (page, other):
        expect(tab.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Escape")
    expect(page.locator("#account")).to_be_focused()
    assert 'data-theme="dark"' in page.request.get(f"{reader.base_url}/").text()

    # A click alone: the page is loaded again before a check could see what it did.
    from_account(reader, "Settings").get_by_label("Deutsch").click()
    for tab in (page, other):
        expect(tab.locator("#new-chat")).to_have_text("Neuer Chat")
        expect(tab.locator("#composer-text")).to_be_focused()  # it has started: the words were there before
    other.bring_to_front()
    other.locator("#account").click()
    other.get_by_role("menuitem", name="Agenten").click()
    expect(other.get_by_role("dialog")).to_be_visible()
    page.bring_to_front()
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Einstellungen").click()
    dialog(reader).get_by_label("English").click()
    expect(page.locator("#new-chat")).to_have_text("New chat")
    other.bring_to_front()
    expect(other.get_by_role("dialog")).to_be_visible()
    expect(other.locator("#new-chat")).to_have_text("Neuer Chat")
    other.keyboard.press("Escape")
    expect(other.locator("#new-chat")).to_have_text("New chat")


@pytest.mark.core
def test_a_token_is_shown_once_and_taken_back(reader: Reader) -> None:
    settings = from_account(reader, "Settings")
    settings.get_by_label("Name of the new token").fill("Backup of the harbour")
    settings.get_by_role("button", name="New token").click()
    token = settings.get_by_label("New token", exact=True)
    expect(token).to_be_focused()
    value = token.input_value()
    header = {"Authorization": f"Token {value}"}
    row = settings.locator(".rows li").filter(
        has=reader.page.get_by_role("button", name=f"Delete token {value[:6]}")
    )
    assert reader.page.request.get(f"{reader.base_url}/api/models/", headers=header).ok
    reader.page.keyboard.press("Escape")
    settings = from_account(reader, "Settings")
    expect(row).to_contain_text("Backup of the harbour")
    expect(settings.get_by_label("New token", exact=True)).to_have_count(0)
    row.get_by_role("button").click()
    dialog(reader).last.get_by_role("button", name="Delete", exact=True).click()
    expect(row).to_have_count(0)
    expect(settings).to_be_visible()


@pytest.mark.core
def test_an_agent_is_made_changed_and_deleted_and_nothing_written_is_lost_by_a_slip(reader: Reader) -> None:
    agents = from_account(reader, "Agents")
    agents.get_by_role("button", name="New agent").click()
    agents.get_by_label("Name", exact=True).fill("Pilot")
    agents.get_by_label("Prompt", exact=True).fill("You know tides.")
    agents.get_by_label("Web search").check()
    reader.page.keyboard.press("Escape")
    dialog(reader).last.get_by_role("button", name="Cancel").click()
    expect(agents.get_by_label("Name", exact=True)).to_have_value("Pilot")
    agents.get_by_role("button", name="Save").click()
    row = agents.get_by_role("button", name=re.compile("^Pilot"))
    expect(row).to_be_focused()
    row.click()
    expect(agents.get_by_label("Web search")).to_be_checked()
    agents.get_by_label("Name", exact=True).fill("Harbour pilot")
    reader.page.keyboard.press("Enter")
    agents.get_by_role("button", name="Delete Harbour pilot").click()
    dialog(reader).last.get_by_role("button", name="Delete", exact=True).click()
    expect(agents.get_by_role("button", name=re.compile("^Harbour"))).to_have_count(0)


def test_offline_is_shown_and_recovered_from(reader: Reader) -> None:
    status = reader.page.locator("#connection")
    # An answer arrives through the socket: it is connected, and does not say so over "Offline".
    reader.send("Water the plants")
    reader.expect_echo("Water the plants")
    reader.context.set_offline(True)
    expect(status).to_have_text("Offline")
    reader.send("And the trees")
    alert = reader.page.get_by_role("alert").filter(has_text="cannot be reached")
    expect(alert).to_be_visible()
    reader.context.set_offline(False)
    expect(status).to_be_empty()
    expect(alert).to_be_hidden()
    reader.send("And the trees")
    reader.expect_echo("And the trees", index=1)


@pytest.mark.core
def test_after_an_expired_login_the_same_chat_is_open_again(reader: Reader) -> None:
    reader.send("Water the plants")
    reader.expect_echo("Water the plants")
    address = reader.page.url
    # A fresh navigation: a page that is still open redirects to the login, which would clear the form being
    # filled in.
    reader.page.goto("about:blank")
    reader.context.clear_cookies(name="sessionid")
    reader.page.goto(address)
    expect(reader.page).to_have_url(re.compile("/login/"))
    reader.fill_in("alice", "alice")
    reader.expect_echo("Water the plants")
    assert reader.page.url == address


def test_a_page_whose_login_has_expired_leads_to_the_login_and_back(reader: Reader) -> None:
    reader.send("Feed the cat")
    reader.expect_echo("Feed the cat")
    address = reader.page.url
    reader.context.clear_cookies(name="sessionid")
    # Unless a background request of the page has already redirected it.
    with suppress(PlaywrightError):
        reader.page.get_by_label("Search chats").fill("cat", timeout=2_000)
    expect(reader.page).to_have_url(re.compile("/login/"))
    reader.fill_in("alice", "alice")
    reader.expect_echo("Feed the cat")
    assert reader.page.url == address


def test_on_a_phone_the_drawer_takes_the_focus_and_gives_it_back(caller: Reader) -> None:
    toggle = caller.page.locator("#sidebar-toggle")
    toggle.focus()
    caller.page.keyboard.press("Enter")
    expect(caller.page.locator("#sidebar-close")).to_be_focused()
    assert caller.page.evaluate("document.querySelector('main').inert")
    caller.page.keyboard.press("Escape")
    expect(toggle).to_be_focused()
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(caller.page.locator("#new-chat")).to_be_hidden()


def test_a_control_that_is_only_an_icon_has_no_frame(reader: Reader) -> None:
    for control in ("#palette", "#options", "#sidebar-close"):
        expect(reader.page.locator(control)).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")


def test_the_account_menu_has_groups_and_ends_with_the_account(reader: Reader) -> None:
    page = reader.page
    page.locator("#account").click()
    menu = page.get_by_role("menu")
    names = menu.locator(":scope > *").evaluate_all(
        "all => all.map((each) => each.tagName === 'HR' ? '—' : each.innerText)"
    )
    groups = "|".join(names).split("|—|")
    assert groups[0].startswith("Settings|Agents|Prompts")
    assert groups[1] == "Archived chats|Trash|Import a chat"
    assert groups[-1] == "Profile|Change password|Log out"
    assert violations_in_both_themes(page) == []


def test_a_second_click_on_the_button_of_a_menu_closes_it(reader: Reader) -> None:
    button, menu = reader.page.locator("#account"), reader.page.get_by_role("menu")
    for _ in range(2):
        button.click()
        expect(menu).to_be_visible()
        expect(button).to_have_attribute("aria-expanded", "true")
        button.click()
        expect(menu).to_have_count(0)
        expect(button).to_have_attribute("aria-expanded", "false")


def test_a_double_click_makes_one_token(reader: Reader) -> None:
    made: list[str] = []
    reader.page.on("request", lambda request: made.append(request.url) if request.method == "POST" else None)
    settings = from_account(reader, "Settings")
    settings.get_by_role("button", name="New token").dblclick()
    expect(settings.get_by_label("New token", exact=True)).to_be_focused()
    assert len(made) == 1
