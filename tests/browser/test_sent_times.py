"""When questions and answers were written, as the page shows it."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.reader import Reader

pytestmark = pytest.mark.browser

LOCAL_PARTS = """(time) => {
    const sent = new Date(time.dateTime);
    const language = document.documentElement.lang;
    const clock = sent.toLocaleTimeString(language, { timeStyle: "short" });
    const day = sent.toLocaleDateString(language, { dateStyle: "full" });
    return { clock, day, secondsAgo: (Date.now() - sent) / 1000 };
}"""


def expect_time(message: Locator) -> dict[str, str]:
    time = message.locator("footer time")
    parts = time.evaluate(LOCAL_PARTS)
    assert -60 < parts["secondsAgo"] < 600
    expect(time).to_contain_text(parts["clock"])
    assert parts["day"] in time.get_attribute("title")
    return parts


def test_a_question_and_its_answer_show_when_they_were_written(reader: Reader) -> None:
    reader.send("When?")
    reader.expect_echo("When?")
    expect_time(reader.questions.first)
    expect_time(reader.answers.first)


def test_times_are_written_in_the_language_of_the_page(reader: Reader) -> None:
    reader.context.add_cookies([{"name": "django_language", "value": "de", "url": reader.base_url}])
    reader.page.reload()
    reader.page.get_by_role("textbox", name="Nachricht", exact=True).fill("Wann?")
    reader.page.keyboard.press("Enter")
    expect(reader.answers.first).to_have_attribute("aria-busy", "false")
    parts = expect_time(reader.answers.first)
    assert "AM" not in parts["clock"]
    assert "PM" not in parts["clock"]


def test_a_time_appears_with_the_actions_and_moves_nothing(reader: Reader) -> None:
    for index, text in enumerate(("first", "second")):
        reader.send(text)
        reader.expect_echo(text, index=index)
    older = reader.questions.first
    time = older.locator("footer time")
    expect(time).to_have_css("opacity", "0")
    height = older.bounding_box()["height"]
    older.hover()
    expect(time).to_have_css("opacity", "1")
    assert older.bounding_box()["height"] == height


def test_times_are_always_visible_on_touch_screens(caller: Reader) -> None:
    for index, text in enumerate(("first", "second")):
        caller.send(text)
        caller.expect_echo(text, index=index)
    expect(caller.questions.first.locator("footer time")).to_have_css("opacity", "1")
