"""The map of a session's tree: marks, keyboard navigation, clicks."""

import json

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.reader import Reader
from tests.screenshots.scenes import POST
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.fixture
def branching(reader: Reader) -> Reader:
    """ "One" has been edited to "Two"; the map is open, and the newest answer has the focus."""
    reader.send("One")
    reader.expect_echo("One")
    reader.edit(0, "Two")
    reader.expect_echo("Two")
    reader.page.locator("#tree-toggle").click()
    expect(marks(reader)).to_have_count(4)
    expect(reader.page.get_by_role("treeitem", selected=True)).to_be_focused()
    return reader


def marks(reader: Reader) -> Locator:
    return reader.page.get_by_role("treeitem")


@pytest.mark.core
def test_arrow_keys_move_previews_follow_and_enter_goes_there(branching: Reader) -> None:
    keys, preview = branching.page.keyboard, branching.page.locator(".tree-preview")
    expect(preview).to_contain_text("You said: Two")
    keys.press("ArrowUp")
    expect(preview).to_contain_text("You")
    expect(preview).to_contain_text("Two")
    keys.press("ArrowLeft")
    expect(preview).to_contain_text("One")
    keys.press("Tab")
    expect(preview).to_be_focused()
    keys.press("Shift+Tab")
    keys.press("Enter")
    branching.expect_echo("One")
    expect(
        branching.page.get_by_role("treeitem", name="version 1 of 2, on the current branch")
    ).to_have_count(1)
    branching.page.locator("#tree header button").click()
    expect(branching.page.locator("#tree-toggle")).to_be_focused()


def test_it_grows_while_others_write(branching: Reader) -> None:
    tab = branching.second_tab()
    tab.get_by_label("Message", exact=True).fill("Three")
    tab.get_by_label("Message", exact=True).press("Enter")
    expect(marks(branching)).to_have_count(6)
    expect(branching.page.locator(".tree-map .mark.current")).to_have_count(4)


def test_of_a_thousand_messages_only_those_in_sight_are_drawn(reader: Reader) -> None:
    def tree(route: Route) -> None:
        """A tree with a single branch, as the server would return it."""
        ids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(1001)]
        roles = ["root"] + ["user", "assistant"] * 500
        nodes = [
            {"id": own, "parent": above, "role": role, "latest_child": below, "status": "completed", "model": "m",
             "sent_at": "2026-01-01T00:00:00Z"}
            for own, above, below, role in zip(ids, [None, *ids], [*ids[1:], None], roles, strict=False)
        ]  # fmt: skip
        route.fulfill(body=json.dumps(nodes), content_type="application/json")

    reader.page.route("**/tree/", tree)
    reader.send("One")
    reader.expect_echo("One")
    reader.page.locator("#tree-toggle").click()
    expect(reader.page.get_by_role("treeitem", selected=True)).to_be_focused()
    assert marks(reader).count() < 100
    reader.page.keyboard.press("Home")
    expect(reader.page.get_by_role("treeitem", name="Question", exact=False).first).to_be_focused()
    assert reader.page.locator(".tree-map").evaluate("element => element.scrollTop") < 100
    assert marks(reader).count() < 100


def test_on_a_phone_it_is_a_dialog_that_closes_when_it_has_led_somewhere(caller: Reader) -> None:
    caller.send("One")
    caller.expect_echo("One")
    caller.edit(0, "Two")
    caller.expect_echo("Two")
    caller.page.locator("#tree-toggle").click()
    caller.page.get_by_role("treeitem", name="Question, version 1 of 2").click()
    expect(caller.page.get_by_role("dialog")).to_have_count(0)
    caller.expect_echo("One")


def test_the_map_closes_when_another_chat_is_opened(branching: Reader) -> None:
    page = branching.page
    page.evaluate(POST, ["sessions/", {"title": "Elsewhere"}])
    page.locator("#sessions").get_by_role("link", name="Elsewhere").click()
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    expect(page.locator(".tree-map")).to_have_count(0)
    expect(page.locator("#tree-toggle")).to_have_attribute("aria-expanded", "false")


def test_the_hint_of_the_map_is_for_fingers_on_a_phone(caller: Reader) -> None:
    caller.send("One")
    caller.expect_echo("One")
    caller.page.locator("#tree-toggle").click()
    expect(caller.page.locator(".tree-preview .hint")).to_have_text("Tap a message to go there.")


def test_the_preview_shows_what_an_answer_has_written_so_far(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Ebb "}, {"wait": "more"}, {"text": "and flood."})
    reader.send("Tides?")
    reader.expect_partial_answer("Ebb")
    reader.page.locator("#tree-toggle").click()
    preview = reader.page.locator(".tree-preview")
    expect(preview).to_contain_text("Ebb")
    stack.upstream.release("more")
    reader.expect_answer("Ebb and flood.")
    for key in ("ArrowUp", "ArrowDown"):
        reader.page.keyboard.press(key)
    expect(preview).to_contain_text("Ebb and flood.")
