"""What a user decides about is shown as it is sent: nothing is hidden, and nothing turns the direction of what follows."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_approvals import CLOCK, asking, helped
from tests.browser.test_questions import ask as ask_questions
from tests.browser.test_questions import card as question_card
from tests.stack import Stack

__all__ = ["asking", "helped"]  # fixtures

pytestmark = pytest.mark.browser

TURNED = "Europe/\u202eemoR\u202c\u200b\U000e0041"
AS_SENT = r"Europe/\u202eemoR\u202c\u200b\udb40\udc41"
FAMILY = "👨\u200d👩\u200d👧"
# Where a character of the first text node of an element is drawn, from the left.
LEFT_OF = """(element, [text, at]) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (node && !node.data.includes(text)) node = walker.nextNode();
    const range = new Range();
    range.setStart(node, node.data.indexOf(text) + at);
    range.setEnd(node, node.data.indexOf(text) + at + 1);
    return range.getBoundingClientRect().left;
}"""


def waiting_card(reader: Reader, stack: Stack, **arguments: str) -> Locator:
    stack.upstream.reply({"call": {**CLOCK["call"], "arguments": arguments}}, after_tools=0)
    stack.upstream.reply({"text": "It is late there."}, after_tools=1)
    reader.send("What time is it there?")
    card = reader.page.locator("section.approval")
    expect(card).to_be_visible()
    return card


def test_arguments_are_shown_with_escapes_and_sent_as_they_are_when_they_are_edited(
    helped: Reader, stack: Stack
) -> None:
    card = waiting_card(helped, stack, timezone=TURNED, family=FAMILY)
    for shown in ("table", "pre"):
        expect(card.locator(shown)).to_contain_text(AS_SENT)
        expect(card.locator(shown)).to_contain_text(FAMILY)
        expect(card.locator(f"{shown} .escape").first).to_have_text(r"\u202e")
        card.get_by_role("button", name="As JSON").click()
    assert "\u202e" not in card.evaluate("(card) => card.outerHTML + card.ariaLabel")
    assert violations_in_both_themes(helped.page) == []
    card.get_by_role("button", name="Edit").click()
    field = card.get_by_role("textbox", name="Arguments")
    assert AS_SENT in field.input_value()
    field.fill(field.input_value().replace("emoR", "Rome"))
    card.get_by_role("button", name="Allow", exact=True).click()
    helped.expect_answer("It is late there.")
    [sent] = [call for one in stack.upstream.requests[-1].messages for call in one.get("tool_calls", ())]
    assert "Rome" in sent["function"]["arguments"]


def test_a_text_from_right_to_left_turns_nothing_beside_it(helped: Reader, stack: Stack) -> None:
    card = waiting_card(helped, stack, timezone="שלום 100 (200)")
    card.get_by_role("button", name="As JSON").click()
    pre = card.locator("pre")
    key = pre.evaluate(LEFT_OF, ['"timezone"', 1])
    value = pre.evaluate(LEFT_OF, ["שלום", 0])
    assert key < value
    helped.stop.click()


def test_a_question_and_its_options_are_shown_with_escapes(reader: Reader, stack: Stack) -> None:
    options = ["Pay \u202e001\u202c", f"Nothing {FAMILY}"]
    ask_questions(
        reader, stack, [{"name": "a", "question": "How\u2066 much?", "type": "choice", "options": options}]
    )
    card = question_card(reader)
    expect(card).to_contain_text(r"Pay \u202e001\u202c")
    expect(card).to_contain_text(r"How\u2066 much?")
    expect(card).to_contain_text(f"Nothing {FAMILY}")
    assert violations_in_both_themes(reader.page) == []
    reader.stop.click()
