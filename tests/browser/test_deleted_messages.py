"""Deleting a message on the page: the menus, Undo, the trash dialog and the other tab."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT

pytestmark = pytest.mark.browser


def delete(reader: Reader, message: Locator) -> None:
    message.hover()
    message.get_by_role("button", name="More actions").click()
    reader.page.get_by_role("menuitem", name="Delete").click()


@pytest.mark.core
def test_a_question_goes_with_all_below_it_in_every_tab_and_comes_back_by_undo(reader: Reader) -> None:
    for index, text in enumerate(("first", "second", "third")):
        reader.send(text)
        reader.expect_echo(text, index=index)
    page, other = reader.page, reader.second_tab()
    expect(other.locator("article.answer")).to_have_count(3)
    delete(reader, page.locator("article.user").nth(1))
    for tab in (page, other):
        expect(tab.locator("article.answer")).to_have_count(1)
        expect(tab.locator("article.user")).to_have_count(1)
    assert violations_in_both_themes(page) == []
    page.get_by_role("button", name="Undo").click()
    for tab in (page, other):
        expect(tab.locator("article.answer")).to_have_count(3)
    reader.expect_echo("third", index=2)


def test_an_answer_leaves_its_earlier_version_and_comes_back_from_the_trash(reader: Reader) -> None:
    page = reader.page
    reader.send("first")
    reader.expect_echo("first")
    reader.answers.first.get_by_role("button", name="Regenerate").click()
    page.get_by_role("menuitem", name="Try again").click()
    expect(reader.answers.first.locator(".place")).to_have_text("2/2")
    reader.expect_echo("first")
    delete(reader, reader.answers.first)
    expect(reader.answers.first.locator(".place")).to_be_hidden()
    reader.expect_echo("first")
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Trash").click()
    row = page.locator("dialog .trash li")
    expect(row).to_contain_text(re.compile("Part of a chat"))
    assert violations_in_both_themes(page) == []
    row.get_by_role("button", name=re.compile("^Restore")).click()
    expect(row).to_have_count(0)
    page.keyboard.press("Escape")
    expect(reader.answers.first.locator(".place")).to_have_text("2/2")


def test_the_first_question_leaves_an_empty_chat_that_is_begun_again(reader: Reader) -> None:
    reader.send("first")
    reader.expect_echo("first")
    delete(reader, reader.page.locator("article.user"))
    expect(reader.page.locator("article")).to_have_count(0)
    reader.send("again")
    reader.expect_echo("again")
    expect(reader.page.locator("#sessions li")).to_have_count(1)


def test_the_menu_of_a_question_fits_a_phone(reader: Reader) -> None:
    page = reader.page
    page.set_viewport_size({"width": 360, "height": 740})
    reader.send("first")
    reader.expect_echo("first")
    page.locator("article.user").get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Delete")).to_be_visible()
    assert violations_in_both_themes(page) == []
    assert page.evaluate(STICKING_OUT) == []


def test_a_message_of_a_temporary_chat_is_deleted_for_good_once_that_is_confirmed(reader: Reader) -> None:
    page = reader.page
    page.locator("#temporary").get_by_role("button", name="Temporary chat").click()
    reader.send("secret")
    reader.expect_echo("secret")
    delete(reader, page.locator("article.user"))
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("article.user")).to_have_count(1)
    delete(reader, page.locator("article.user"))
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("article.user")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
