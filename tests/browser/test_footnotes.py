"""Footnotes and details in answers: shown while they are written, followed by keyboard, and kept open by their reader."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

FOLDED = "<details>\n<summary>The *steps*</summary>\n\n1. First\n2. **Second**\n\n"


def test_a_footnote_is_reached_from_its_sign_and_leads_back(reader: Reader, stack: Stack) -> None:
    answer = (
        "The Moon pulls.[^1] So does the Sun.[^2] Not [^this].\n\n[^1]: Newton, *Principia*\n[^2]: Less.\n"
    )
    stack.upstream.reply({"text": answer}, times=1)
    reader.send("Why two tides?")
    page, body = reader.page, reader.answers.first
    expect(body).to_contain_text("The Moon pulls.1 So does the Sun.2 Not [^this].")
    expect(body.locator(".footnote")).to_have_text(["1Newton, Principia", "2Less."])
    opened = page.url
    body.get_by_role("button", name="Footnote 1", exact=True).focus()
    page.keyboard.press("Enter")
    back = body.get_by_role("button", name="Footnote 1: back to the text")
    expect(back).to_be_focused()
    page.keyboard.press("Enter")
    expect(body.get_by_role("button", name="Footnote 1", exact=True)).to_be_focused()
    assert page.url == opened
    assert violations_in_both_themes(page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / "footnotes.png")


def test_details_stay_as_their_reader_left_them_while_they_are_written(reader: Reader, stack: Stack) -> None:
    rest = {"text": "3. Third\n\n<img src=x onerror=alert(1)>\n\n</details>\n\nDone."}
    stack.upstream.reply({"text": FOLDED}, {"wait": "the rest"}, rest, times=1)
    reader.send("How?")
    details = reader.answers.first.locator(".markdown details")
    expect(details.locator("summary")).to_have_text("The steps")
    expect(details.get_by_text("Second")).to_be_hidden()
    details.locator("summary").click()
    expect(details.get_by_text("Second")).to_be_visible()
    stack.upstream.release("the rest")
    expect(reader.answers.first).to_contain_text("Done.")
    expect(details.get_by_text("Third")).to_be_visible()
    expect(details.locator("img")).to_have_count(0)
    assert violations_in_both_themes(reader.page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        reader.page.screenshot(path=Path(folder) / "details.png")
