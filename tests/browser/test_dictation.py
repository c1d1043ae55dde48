"""Dictation by the browser's speech recognition, which a script replaces: it hears what the test says."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser

EAR = """
    window.SpeechRecognition = window.webkitSpeechRecognition = class extends EventTarget {
        start() { window.ear = this; this.isOn = true; this.results = []; }
        abort() { this.isOn = false; this.dispatchEvent(new Event("end")); }
        hear(text, isFinal = true) {
            this.results.push(Object.assign([{ transcript: text }], { isFinal }));
            this.dispatchEvent(Object.assign(new Event("result"), { results: this.results, resultIndex: this.results.length - 1 }));
        }
        fail(error) { this.dispatchEvent(Object.assign(new Event("error"), { error })); this.abort(); }
    };
"""


@pytest.fixture
def hearing(windows: Windows, stack: Stack) -> Iterator[Reader]:
    # An own window: scripts of a context stay in it.
    with windows.borrowed("alice", locale="en-GB") as reader:
        reader.page.add_init_script(EAR)
        reader.page.reload()
        reader.wait_until_ready()
        yield reader


def button(reader: Reader) -> Locator:
    return reader.page.locator("[data-dictate]")


def test_what_is_heard_is_put_at_the_caret_until_it_is_stopped(hearing: Reader) -> None:
    page = hearing.page
    hearing.field.fill("Dear, how are the tides?")
    hearing.field.evaluate("field => field.setSelectionRange(4, 4)")
    button(hearing).click()
    expect(button(hearing)).to_have_attribute("aria-pressed", "true")
    expect(hearing.field).to_be_focused()
    assert violations_in_both_themes(page) == []
    page.evaluate("ear.hear('not yet', false)")
    page.evaluate("ear.hear(' harbour master ')")
    expect(hearing.field).to_have_value("Dear harbour master, how are the tides?")
    assert page.evaluate("ear.lang") == "en"
    button(hearing).click()
    expect(button(hearing)).to_have_attribute("aria-label", "Dictate")
    assert page.evaluate("ear.isOn") is False


def test_it_stops_listening_when_the_message_is_sent(hearing: Reader) -> None:
    button(hearing).click()
    hearing.page.evaluate("ear.hear('How high is the tide')")
    hearing.page.locator("[data-send]").click()
    hearing.expect_echo("How high is the tide")
    assert hearing.page.evaluate("ear.isOn") is False
    expect(hearing.field).to_have_value("")


def test_a_microphone_that_is_not_allowed_is_said(hearing: Reader) -> None:
    button(hearing).click()
    hearing.page.evaluate("ear.fail('not-allowed')")
    expect(hearing.page.get_by_role("alert").filter(has_text="Allow the microphone")).to_be_visible()
    expect(button(hearing)).to_have_attribute("aria-pressed", "false")


def test_browsers_without_speech_recognition_have_no_button(reader: Reader) -> None:
    reader.page.add_init_script("delete window.webkitSpeechRecognition; delete window.SpeechRecognition")
    reader.page.reload()
    reader.wait_until_ready()
    expect(button(reader)).to_be_hidden()
