"""The composer: typed text is never lost, and keys do what they usually do."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.accessible import violations
from tests.browser.reader import Reader
from tests.browser.test_providers import clean, demo_alone
from tests.screenshots.scenes import POST
from tests.stack import Stack

__all__ = ["clean", "demo_alone"]  # fixtures

pytestmark = pytest.mark.browser
# Its name has a hash of its content.
PAGE_SCRIPT = re.compile(r"/bundle/(page|chunk)\.[0-9A-Z]{8}\.js$")
LONG = "All the tides of the year. " * 400

PASTE = """(field, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def field_of(page: Page) -> str:
    return page.get_by_label("Message", exact=True).input_value()


def test_what_is_entered_before_the_scripts_arrive_is_sent_when_they_do(reader: Reader) -> None:
    page, late = reader.page, Late(reader.page)
    late.go(f"{reader.base_url}/")
    reader.field.click()
    page.keyboard.type("Early")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("bird")
    page.keyboard.press("Enter")
    expect(reader.field).to_have_value("Early\nbird")
    expect(page.locator("#composer")).to_have_attribute("aria-busy", "true")
    late.arrive()
    reader.expect_echo("Early bird")
    expect(reader.field).to_have_value("")
    expect(reader.field).to_be_editable()
    # Text typed without Enter stays in the field and becomes a draft.
    late.go(f"{reader.base_url}/")
    reader.field.fill("Half a thou")
    late.arrive()
    expect(page.locator("#composer")).to_have_attribute("data-ready", "")
    late.go(f"{reader.base_url}/")
    late.arrive()
    expect(reader.field).to_have_value("Half a thou")
    reader.field.fill("")


def test_a_click_before_the_page_has_started_is_not_lost(reader: Reader) -> None:
    page, late = reader.page, Late(reader.page)
    late.go(f"{reader.base_url}/")
    page.locator("#account").click()
    late.arrive()
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("Escape")
    # A click on the page that has started is made once.
    page.locator("#account").click()
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()


class Late:
    """Delays the page's first script."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.held: list[Route] = []
        page.route(PAGE_SCRIPT, self._hold)

    def go(self, address: str) -> None:
        with self.page.expect_request(PAGE_SCRIPT):
            self.page.goto(address, wait_until="commit")
        expect(self.page.locator("[data-send]")).to_be_attached()

    def arrive(self) -> None:
        while not self.held:
            self.page.evaluate("1")  # a round trip, after which earlier browser events have been dispatched
        self.held.pop().continue_()

    def _hold(self, route: Route) -> None:
        self.held.append(route)


def test_keys_of_the_composer(reader: Reader, stack: Stack) -> None:
    keyboard = reader.page.keyboard
    reader.field.fill("one")
    keyboard.press("Shift+Enter")
    keyboard.type("two")
    reader.field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    expect(reader.field).to_have_value("one\ntwo")
    stack.upstream.reply({"text": "Once upon"}, {"hang": True}, times=1)
    keyboard.press("Enter")
    reader.expect_partial_answer("Once upon")
    expect(reader.questions.locator(".question-text")).to_have_text("one\ntwo", use_inner_text=True)
    keyboard.press("Escape")
    reader.expect_answer("Once upon")
    keyboard.press("ArrowUp")
    editor = reader.questions.locator("textarea")
    expect(editor).to_be_focused()
    expect(editor).to_have_value("one\ntwo")


def test_enter_breaks_the_line_on_a_touch_screen_until_it_is_to_send(caller: Reader) -> None:
    caller.field.press_sequentially("One")
    caller.field.press("Enter")
    caller.field.press_sequentially("Two")
    expect(caller.field).to_have_value("One\nTwo")
    caller.page.evaluate("localStorage.setItem('turnwire.sendKey', 'enter')")
    caller.page.reload()
    expect(caller.field).to_have_attribute("enterkeyhint", "send")
    caller.field.press("Enter")
    caller.expect_echo("One\nTwo")


@pytest.mark.core
def test_drafts_stay_with_their_chat_through_reloads_and_in_all_tabs(reader: Reader) -> None:
    reader.send("Tides")
    reader.expect_echo("Tides")
    first = reader.page.url
    reader.field.fill("about the Moon")
    second = reader.second_tab()
    expect(second.get_by_label("Message", exact=True)).to_have_value("about the Moon")
    reader.field.press_sequentially("!")
    expect(second.get_by_label("Message", exact=True)).to_have_value("about the Moon!")
    reader.page.get_by_role("button", name="New chat").click()
    expect(reader.field).to_have_value("")
    reader.field.fill("something else")
    reader.page.goto(first)
    expect(reader.field).to_have_value("about the Moon!")
    reader.page.reload()
    expect(reader.field).to_have_value("about the Moon!")
    reader.field.press("Enter")
    reader.expect_echo("about the Moon!", index=1)
    expect(second.get_by_label("Message", exact=True)).to_have_value("")
    reader.page.get_by_role("button", name="New chat").click()
    expect(reader.field).to_have_value("something else")
    reader.field.fill("")


@pytest.mark.core
def test_a_question_waits_in_line_is_taken_back_and_may_interrupt(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Once upon"}, {"wait": "go on"}, {"text": " a time."}, contains="story")
    stack.upstream.reply({"text": "Also."}, contains="And")
    reader.send("A long story")
    reader.expect_partial_answer("Once upon")
    reader.send("And then?")
    waiting = reader.page.locator("article.user.waiting")
    expect(waiting).to_contain_text("Waits for the answer above")
    waiting.get_by_role("button", name="Cancel").click()
    expect(waiting).to_have_count(0)
    expect(reader.questions).to_have_count(1)
    expect(reader.field).to_have_value("And then?")
    reader.field.press("Enter")
    expect(waiting).to_have_count(1)
    stack.upstream.release("go on")
    reader.expect_answer("Once upon a time.")
    reader.expect_answer("Also.", index=1)
    expect(waiting).to_have_count(0)

    stack.upstream.reply({"text": "Endless"}, {"hang": True}, contains="epic")
    reader.send("An epic")
    reader.expect_partial_answer("Endless", index=2)
    reader.page.locator("[data-mode]").click()
    reader.page.get_by_role("menuitemradio", name="Interrupt").click()
    reader.send("And short")
    reader.expect_answer("Also.", index=3)
    expect(reader.answers.nth(2).locator(".status")).to_have_text("stopped")


def test_a_message_is_answered_as_chosen_although_the_choice_is_still_being_stored(
    reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": "Endless"}, {"hang": True}, contains="epic")
    stack.upstream.reply({"text": "Also."}, contains="And")
    reader.send("An epic")
    reader.expect_partial_answer("Endless")
    held: list[Route] = []
    reader.page.route(
        "**/api/sessions/*/",
        lambda route: held.append(route) if route.request.method == "PATCH" else route.continue_(),
    )
    reader.page.locator("[data-mode]").click()
    reader.page.get_by_role("menuitemradio", name="Interrupt").click()
    reader.send("And short")
    expect(reader.field).to_have_value("")
    held[0].continue_()
    reader.expect_answer("Also.", index=1)


@pytest.mark.core
def test_a_long_paste_is_a_chip_that_is_sent_with_the_text(reader: Reader, stack: Stack) -> None:
    chip = reader.page.locator(".chip")
    reader.field.fill("Sum it up:")
    reader.field.evaluate(PASTE, "short")
    expect(chip).to_have_count(0)
    reader.field.evaluate(PASTE, LONG)
    reader.field.evaluate(PASTE, LONG)
    expect(chip).to_have_count(2)
    chip.first.get_by_role("button", name="Remove").click()
    expect(chip).to_have_count(1)
    expect(chip).to_contain_text(f"{len(LONG):,} characters")
    reader.page.reload()
    expect(chip).to_have_count(1)
    expect(reader.field).to_have_value("Sum it up:")
    chip.get_by_role("button", name="Pasted text").first.click()
    preview = reader.page.get_by_role("dialog")
    expect(preview.get_by_label("Text")).to_contain_text(LONG.strip()[:200])
    assert violations(reader.page) == []
    preview.get_by_role("button", name="Put it into the field").click()
    assert field_of(reader.page) == "Sum it up:" + LONG
    reader.field.fill("Sum it up:")
    reader.field.evaluate(PASTE, LONG)
    reader.field.press("Enter")
    expect(reader.answers).to_have_attribute("aria-busy", "false")
    expect(chip).to_have_count(0)
    assert stack.upstream.requests[0].messages[-1]["content"].startswith(f"Sum it up:\n\n{LONG[:50]}")


def test_a_long_paste_becomes_a_file(reader: Reader, stack: Stack) -> None:
    reader.field.fill("Sum it up:")
    reader.field.evaluate(PASTE, LONG)
    reader.page.locator(".chip").get_by_role("button", name="Pasted text").first.click()
    reader.page.get_by_role("button", name="Attach it as a file").click()
    expect(reader.page.locator(".chip")).to_have_count(0)
    expect(reader.page.locator("[data-files] li")).to_contain_text("Pasted text.txt")
    expect(reader.field).to_have_value("Sum it up:")


def test_an_agent_is_picked_answers_with_its_models_and_can_be_changed(reader: Reader, stack: Stack) -> None:
    make = """async ([name, models]) => {
        const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
        const headers = {"Content-Type": "application/json", "X-CSRFToken": token};
        const body = JSON.stringify({name, models, prompt: `You are ${name}.`, replaces_system_prompt: true});
        return (await fetch("/api/agents/", {method: "POST", headers, body})).status;
    }"""
    for name, models in (("Gardener", ["beta", "gamma"]), ("Sailor", [])):
        assert reader.page.evaluate(make, [name, models]) == 201
    agents, models = reader.page.locator("#agents summary"), reader.page.locator("#models summary")
    agents.click()
    reader.page.get_by_role("radio", name="Gardener").check()
    reader.page.keyboard.press("Escape")
    expect(agents).to_have_attribute("aria-label", "Agent: Gardener")
    expect(models).to_have_attribute("aria-label", "Models: beta, gamma")
    reader.send("When to sow?")
    expect(reader.answers).to_have_count(2)
    for index in (0, 1):
        expect(reader.answers.nth(index)).to_have_attribute("aria-busy", "false")
    assert "You are Gardener." in stack.upstream.requests[0].messages[0]["content"]
    assert {request.body["model"] for request in stack.upstream.requests} == {"beta", "gamma"}

    second = reader.second_tab()
    expect(second.locator("#agents summary")).to_have_attribute("aria-label", "Agent: Gardener")
    agents.click()
    reader.page.get_by_role("radio", name="Sailor").check()
    expect(second.locator("#agents summary")).to_have_attribute("aria-label", "Agent: Sailor")
    expect(models).to_have_attribute("aria-label", "Models: alpha")
    reader.page.keyboard.press("Escape")
    reader.send("And on the sea?")
    reader.expect_echo("And on the sea?", index=2)
    assert "You are Sailor." in stack.upstream.requests[-1].messages[0]["content"]
    reader.page.get_by_role("button", name="New chat").click()
    expect(agents).to_have_attribute("aria-label", "Agent: No agent")


def test_every_control_below_the_message_is_seen_on_a_phone(caller: Reader) -> None:
    for control in (
        "[data-attach]",
        "[data-dictate]",
        "#agents summary",
        "#models summary",
        "#bases summary",
        "#options",
    ):
        expect(caller.page.locator(f"#composer {control} svg").first).to_be_visible()


def test_an_agent_greets_a_new_chat_suggests_what_to_ask_and_signs_its_answer(reader: Reader) -> None:
    fields = {
        "name": "Pilot",
        "emoji": "⚓",
        "description": "Knows the harbour.",
        "questions": ["Sum up a file"],
        "prompt": "",
    }
    reader.page.evaluate(POST, ["agents/", fields])
    reader.page.locator("#agents summary").click()
    reader.page.get_by_role("radio", name="Pilot").check()
    reader.page.keyboard.press("Escape")
    expect(reader.page.get_by_role("heading", name="⚓ Pilot")).to_be_visible()
    expect(reader.page.locator("#welcome")).to_contain_text("Knows the harbour.")
    assert violations(reader.page) == []
    reader.page.get_by_role("list", name="Suggestions").get_by_role("button", name="Sum up a file").click()
    expect(reader.field).to_have_value("Sum up a file")
    expect(reader.field).to_be_focused()
    reader.field.press_sequentially(" about tides")
    reader.field.press("Enter")
    reader.expect_echo("Sum up a file about tides")
    expect(reader.page.get_by_role("list", name="Suggestions")).to_be_hidden()
    expect(reader.answers.first.locator("header")).to_contain_text("Pilot")
    reader.page.reload()
    expect(reader.answers.first.locator("header")).to_contain_text("Pilot")


def test_a_suggestion_replaces_the_one_before_and_its_file_but_no_text_of_ones_own(
    reader: Reader, demo_alone: None
) -> None:
    reader.page.reload()
    suggestions = reader.page.get_by_role("list", name="Suggestions")
    cards = reader.page.get_by_role("list", name="Attached files").get_by_role("listitem")
    fog, clock, tea = (
        suggestions.get_by_role("button", name=name)
        for name in ("What does this handbook say about fog?", "What time is it?", "Show me code")
    )
    fog.click()
    expect(cards).to_have_count(1)
    clock.click()
    expect(reader.field).to_have_value("What time is it?")
    expect(cards).to_have_count(0)
    reader.field.press_sequentially(" In Rome?")
    tea.click()
    expect(reader.field).to_have_value(re.compile("Show me code.*What time is it[?] In Rome[?]", re.DOTALL))
