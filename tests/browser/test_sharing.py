"""Sharing a chat by a public link, and exporting and importing it as a file."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


def choose(reader: Reader, action: str) -> None:
    reader.page.locator("#session-menu").click()
    reader.page.get_by_role("menuitem", name=action).click()


def test_a_link_shows_the_chat_to_anybody_until_it_is_revoked(
    browser: Browser, reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": "**Twice** a day, [says](https://moon.example/) `the moon`.<b>x</b>"})
    reader.send("How often is the tide high?")
    reader.expect_answer("Twice a day, says the moon.<b>x</b>")
    choose(reader, "Share")
    dialog = reader.page.get_by_role("dialog", name="Share this chat")
    dialog.get_by_role("button", name="Create a link").click()
    address = dialog.get_by_label("Link", exact=True).input_value()
    with Reader.at(browser, stack.base_url) as stranger:
        stranger.page.goto(address)
        shown = stranger.page.get_by_role("article", name="Answer")
        expect(shown.locator(".body")).to_have_text("Twice a day, says the moon.<b>x</b>")
        expect(shown.locator("strong")).to_have_text("Twice")
        expect(stranger.page.get_by_role("article", name="Question")).to_have_text(
            "How often is the tide high?"
        )
        assert "nofollow" in (shown.get_by_role("link").get_attribute("rel") or "")
        assert stranger.context.cookies() == []
        dialog.get_by_role("button", name="Revoke").click()
        expect(dialog.get_by_label("Link", exact=True)).to_have_count(0)
        stranger.page.reload()
        expect(stranger.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        assert (stranger.foreign_requests, stranger.errors) == ([], [])


def test_a_chat_is_exported_and_imported(reader: Reader, tmp_path: Path) -> None:
    reader.send("Keep this")
    reader.expect_echo("Keep this")
    first = reader.page.url
    files = {}
    for action, kind in (("Export as Markdown", "md"), ("Export as JSON", "json")):
        with reader.page.expect_download() as download:
            choose(reader, action)
        files[kind] = tmp_path / f"chat.{kind}"
        download.value.save_as(files[kind])
    assert "## You" in files["md"].read_text(encoding="utf-8")
    assert json.loads(files["json"].read_text(encoding="utf-8"))["format"] == "turnwire.session"

    def bring_in(path: Path) -> None:
        reader.page.locator("#account").click()
        with reader.page.expect_file_chooser() as chooser:
            reader.page.get_by_role("menuitem", name="Import a chat").click()
        chooser.value.set_files(path)

    bring_in(files["md"])
    expect(reader.page.get_by_role("alert")).to_contain_text("not a chat that was exported")
    bring_in(files["json"])
    reader.page.wait_for_function("first => location.href !== first", arg=first)
    expect(reader.questions.locator(".question-text")).to_have_text(["Keep this"])
    reader.expect_echo("Keep this")
