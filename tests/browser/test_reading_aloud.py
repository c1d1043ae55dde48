"""Answers that are read aloud by the browser's voice, which a script replaces: it records what is said."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import violations
from tests.browser.reader import Reader, wait_for_script

pytestmark = pytest.mark.browser

VOICE = """() => {
    window.said = [];
    window.cancelled = 0;
    window.SpeechSynthesisUtterance = class extends EventTarget {
        constructor(text) { super(); this.text = text; }
    };
    const voice = {
        speak: (utterance) => said.push([utterance.lang, utterance.text]) && (window.last = utterance),
        cancel: () => cancelled++,
    };
    Object.defineProperty(window, "speechSynthesis", { value: voice, configurable: true });
}"""
TEXT = "# Tides\n\nThe **moon** pulls.\n\n- twice a day\n\n```python\nprint(1)\n```\n\nBut $x$ varies."


def choose(page: Page, entry: str) -> None:
    page.locator("article.answer").get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=entry).click()


def test_an_answer_is_read_without_markdown_and_code_until_it_is_stopped_or_left(reader: Reader) -> None:
    page = reader.page
    page.evaluate(VOICE)
    reader.send(TEXT)
    reader.expect_echo("", index=0)
    choose(page, "Read aloud")
    wait_for_script(page, "said.length > 0")
    said = page.evaluate("said")
    assert {language for language, _ in said} == {"en"}
    texts = [text for _, text in said]
    # What the upstream adds to its echo is said too.
    assert {"The moon pulls.", "twice a day"} <= set(texts)
    assert any(text.startswith("But x varies.") for text in texts)
    assert not any("print" in text or "**" in text for text in texts)
    page.locator("article.answer").get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Stop reading aloud")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    choose(page, "Stop reading aloud")
    wait_for_script(page, "cancelled === 1")
    choose(page, "Read aloud")
    page.locator("#new-chat").click()
    wait_for_script(page, "cancelled === 2")


def test_reading_is_not_offered_where_the_browser_has_no_voice(reader: Reader) -> None:
    page = reader.page
    page.evaluate("delete window.speechSynthesis; delete Window.prototype.speechSynthesis")
    reader.send("Hello")
    reader.expect_echo("Hello", index=0)
    page.locator("article.answer").get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Fork from here")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Read aloud")).to_have_count(0)
