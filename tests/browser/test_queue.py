"""Several questions that wait for the answer above: each is edited or taken back where it stands, in all tabs."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.stack import Stack

pytestmark = pytest.mark.browser


def queue_up(reader: Reader, stack: Stack) -> None:
    """One answer that is being written, and three questions below it."""
    stack.upstream.reply({"text": "Once upon"}, {"wait": "the end"}, {"text": " a time."}, contains="story")
    reader.send("Tell me a story")
    reader.expect_partial_answer("Once upon")
    for number, text in enumerate(("Second?", "Third?", "Fourth?"), 2):
        reader.send(text)
        expect(reader.questions).to_have_count(number)
    expect(reader.page.locator("article.user.waiting")).to_have_count(3)


def test_a_waiting_question_is_edited_where_it_stands_and_another_is_taken_back(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    queue_up(reader, stack)
    other = reader.second_tab()
    expect(other.locator("article.user.waiting")).to_have_count(3)
    question = reader.questions.nth(2)
    question.get_by_role("button", name="Edit").click()
    expect(question.locator(".hint")).to_have_text("It waits with its new text.")
    question.get_by_label("Edit your message").fill("Third, but better?")
    question.get_by_role("button", name="Save").click()
    for tab in (page, other):
        shown = tab.locator("article.user .question-text")
        expect(shown).to_have_text(["Tell me a story", "Second?", "Third, but better?", "Fourth?"])
    reader.questions.nth(1).get_by_role("button", name="Cancel").click()
    expect(reader.field).to_have_value("Second?")
    for tab in (page, other):
        shown = tab.locator("article.user .question-text")
        expect(shown).to_have_text(["Tell me a story", "Third, but better?", "Fourth?"])
    stack.upstream.release("the end")
    reader.expect_answer("Once upon a time.")
    reader.expect_echo("Third, but better?", index=1)
    reader.expect_echo("Fourth?", index=2)
    assert page.locator("article.user.waiting").count() == 0


def test_a_question_that_has_begun_meanwhile_is_not_changed_and_the_page_says_so(
    reader: Reader, stack: Stack
) -> None:
    queue_up(reader, stack)
    question = reader.questions.nth(1)
    question.get_by_role("button", name="Edit").click()
    stack.upstream.release("the end")
    reader.expect_echo("Second?", index=1)
    question.get_by_label("Edit your message").fill("Second, too late?")
    question.get_by_role("button", name="Save").click()
    expect(reader.page.locator("#notice")).to_contain_text("is being answered already")
    expect(question.get_by_label("Edit your message")).to_have_value("Second, too late?")
    reader.expect_echo("Fourth?", index=3)


def test_the_queue_is_accessible_and_fits_a_phone(reader: Reader, stack: Stack) -> None:
    page = reader.page
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(reduced_motion="reduce")  # the status of a live answer fades in and out
    page.reload()
    reader.wait_until_ready()
    queue_up(reader, stack)
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []
    reader.questions.nth(1).get_by_role("button", name="Edit").click()
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []
    stack.upstream.release("the end")
