"""Editing an answer on the page: the menu, the editor, the mark, and what the model reads afterwards."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.stack import Stack

pytestmark = pytest.mark.browser


def open_editor(reader: Reader) -> None:
    reader.answers.first.get_by_role("button", name="More actions").click()
    reader.page.get_by_role("menuitem", name="Edit answer").click()
    expect(reader.page.get_by_label("Edit the answer")).to_be_focused()


def test_an_answer_is_corrected_marked_and_read_by_the_model(reader: Reader, stack: Stack) -> None:
    page = reader.page
    stack.upstream.reply({"text": "Mars has **six** moons."}, times=1)
    reader.send("How many moons has Mars?")
    reader.expect_answer("Mars has six moons.")
    other = reader.second_tab()
    open_editor(reader)
    field = page.get_by_label("Edit the answer")
    expect(field).to_have_value("Mars has **six** moons.")
    field.fill("Mars has **two** moons.")
    field.press("Control+Enter")
    reader.expect_answer("Mars has two moons.")
    for tab in (page, other):
        answer = tab.locator("article.answer")
        expect(answer.locator(".body strong")).to_have_text("two")
        expect(answer.locator(".edited")).to_have_text("Edited by you")
        expect(answer.get_by_role("button", name="Good answer")).to_be_hidden()
    reader.send("Which ones?")
    reader.expect_echo("Which ones?", index=1)
    sent = [each for each in stack.upstream.requests if each.body.get("stream")][-1].messages
    assert [message["content"] for message in sent if message["role"] == "assistant"] == [
        "Mars has **two** moons."
    ]
    reader.answers.first.get_by_role("button", name="Previous version").click()
    reader.expect_answer("Mars has six moons.")
    expect(page.locator("article.answer .edited")).to_be_hidden()
    expect(reader.answers).to_have_count(1)


@pytest.mark.core
def test_the_editor_is_left_without_a_change_and_the_tree_tells_who_wrote_what(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    stack.upstream.reply({"text": "Six."}, times=1)
    reader.send("How many moons has Mars?")
    reader.expect_answer("Six.")
    open_editor(reader)
    field, save = page.get_by_label("Edit the answer"), page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    field.fill("Never mind")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    reader.expect_answer("Six.")
    open_editor(reader)
    field.fill("Two.")
    save.click()
    reader.expect_answer("Two.")
    page.locator("#tree-toggle").click()
    expect(page.get_by_role("treeitem", name=re.compile("Edited by you"))).to_have_count(1)


def test_the_editor_is_accessible_and_fits_a_phone(reader: Reader, stack: Stack) -> None:
    page = reader.page
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    reader.wait_until_ready()
    stack.upstream.reply({"text": "Mars has **six** moons."}, times=1)
    reader.send("How many moons has Mars?")
    reader.expect_answer("Mars has six moons.")
    open_editor(reader)
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []
    page.get_by_label("Edit the answer").fill("Mars has two moons.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article.answer .edited")).to_be_visible()
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []


def test_edits_outlast_visits_to_other_chats_and_branches_and_a_reload_asks_first(reader: Reader) -> None:
    page, question = reader.page, reader.questions.first
    edited, corrected = question.get_by_label("Edit your message"), page.get_by_label("Edit the answer")
    reader.send("one")
    reader.expect_echo("one")
    question.get_by_role("button", name="Edit").click()
    edited.fill("another one")
    open_editor(reader)
    corrected.fill("A better answer.")
    page.locator("#new-chat").click()
    expect(reader.questions).to_have_count(0)
    page.locator("#sessions a").click()
    expect(edited).to_have_value("another one")
    expect(corrected).to_have_value("A better answer.")
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    question.get_by_role("button", name="Send").click()
    reader.expect_echo("another one")
    expect(corrected).to_have_count(0)
    reader.questions.get_by_label("Previous version").click()
    expect(corrected).to_have_value("A better answer.")
    expect(edited).to_have_count(0)
    corrected.press("Escape")
    reader.expect_echo("one")
    page.locator("#new-chat").click()
    page.locator("#sessions a").click()
    reader.expect_echo("one")
    expect(corrected).to_have_count(0)
