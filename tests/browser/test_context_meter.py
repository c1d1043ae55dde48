"""The ring in the bar: how full the model's context window is, and what its card says."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.stack import Stack

pytestmark = pytest.mark.browser

MODEL = """
from chat.models import ModelConfig
ModelConfig.objects.get_or_create(name="narrow", defaults=ModelConfig.fields_for("narrow", 4000))
"""


def test_the_ring_shows_how_full_the_window_is_and_follows_the_answers(reader: Reader, stack: Stack) -> None:
    page = reader.page
    stack.upstream.reply({"text": "So. " * 200})
    meter = page.locator("#context-meter")
    expect(meter).to_be_hidden()
    reader.send("Why two tides?")
    expect(meter).to_be_visible()
    first = meter.get_attribute("aria-label")
    assert re.fullmatch(r"Context: \d+\s?% full", first or "")
    other = reader.second_tab()
    other_meter = other.locator("#context-meter")
    expect(other_meter).to_have_attribute("aria-label", first or "")
    meter.click()
    card = page.locator(".context-card")
    for text in (
        "System prompt",
        "This question",
        "Reserved for the answer",
        "The beginning is summarised once",
    ):
        expect(card).to_contain_text(text)
    expect(card).not_to_contain_text("Earlier messages")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    reader.send("And " + "so on " * 2000)
    expect(reader.answers).to_have_count(2)
    expect(meter).not_to_have_attribute("aria-label", first or "")
    expect(other_meter).not_to_have_attribute("aria-label", first or "")
    other_meter.click()
    expect(other.locator(".context-card")).to_contain_text("Earlier messages")
    other.emulate_media(color_scheme="dark")
    other.get_by_role("button", name="Next summary: up to here").click()
    expect(other.locator("article.user").nth(1)).to_be_in_viewport()
    page.locator("#new-chat").click()
    expect(meter).to_be_hidden()


def test_two_models_have_a_part_of_the_card_each_and_the_fullest_is_shown(
    reader: Reader, stack: Stack
) -> None:
    stack.manage("shell", "-v", "0", "-c", MODEL)
    page = reader.page
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    reader.wait_until_ready()
    reader.pick("alpha", "narrow")
    stack.upstream.reply({"text": "word " * 1500})
    reader.send("Tell me all of it")
    expect(reader.answers.locator("[aria-busy=true]")).to_have_count(0)
    reader.send("And briefly?")
    meter = page.locator("#context-meter")
    expect(meter).to_have_attribute("aria-label", re.compile(r"Context: [5-9]\d\s?% full"))
    meter.click()
    card = page.locator(".context-card")
    expect(card.get_by_role("heading")).to_have_text(["alpha", "narrow"])
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []
    box = card.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    hide = "from chat.models import ModelConfig as M; M.objects.filter(name='narrow').delete()"
    stack.manage("shell", "-v", "0", "-c", hide)


def test_the_card_is_opened_and_closed_by_enter(reader: Reader) -> None:
    reader.send("Why two tides?")
    meter, card = reader.page.locator("#context-meter"), reader.page.locator(".context-card")
    expect(meter).to_be_visible()
    meter.press("Enter")
    expect(card).to_contain_text("System prompt")
    meter.press("Enter")
    expect(card).to_be_hidden()
    meter.press("Enter")
    expect(card).to_be_visible()
