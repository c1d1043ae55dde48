"""Sharing a chat by a public link, and exporting and importing it as a file."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.file_drops import drop_on
from tests.browser.reader import Reader, wait_for_script
from tests.chat.sessions.portable import archives
from tests.features.transfer.foreign_exports import examples
from tests.stack import Stack

pytestmark = pytest.mark.browser


def choose(reader: Reader, action: str) -> None:
    reader.page.locator("#session-menu").click()
    reader.page.get_by_role("menuitem", name=action).click()


def link_made(reader: Reader) -> tuple[Locator, str]:
    """A link to the open chat; the dialog of links, which stays open, and the address."""
    choose(reader, "Share")
    dialog = reader.page.get_by_role("dialog", name="Share this chat")
    dialog.get_by_role("button", name="Create a link").click()
    return dialog, dialog.get_by_label("Link", exact=True).input_value()


@pytest.mark.core
def test_a_link_shows_the_chat_to_anybody_until_it_is_revoked(
    browser: Browser, reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": "**Twice** a day, [says](https://moon.example/) `the moon`.<b>x</b>"})
    reader.send("How often is the tide high?")
    reader.expect_answer("Twice a day, says the moon.<b>x</b>")
    dialog, address = link_made(reader)
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


def test_a_link_has_an_end_shows_more_or_less_and_follows_the_chat_as_its_owner_says(
    browser: Browser, reader: Reader
) -> None:
    reader.send("How often is the tide high?")
    reader.expect_echo("How often is the tide high?")
    choose(reader, "Share")
    dialog = reader.page.get_by_role("dialog", name="Share this chat")
    dialog.get_by_label("End of the link").select_option(label="Ends in 7 days")
    dialog.get_by_role("button", name="Create a link").click()
    link = dialog.get_by_role("listitem")
    expect(link.get_by_label("End of the link")).to_contain_text("Ends on ")
    with reader.page.expect_popup() as looked_at:
        link.get_by_role("link", name="Look at it").click()
    expect(looked_at.value.get_by_role("article", name="Answer")).to_have_count(1)
    looked_at.value.close()
    with reader.page.expect_response("**/api/shares/*/") as changed:
        link.get_by_label("Show reasoning and what tools did").check()
    assert changed.value.json()["shows_details"] is True
    with reader.page.expect_response("**/api/shares/*/") as changed:
        link.get_by_label("End of the link").select_option(label="No end")
    assert changed.value.json()["expires_at"] is None
    expect(link.get_by_role("button", name="Update the link")).to_have_count(0)
    assert violations_in_both_themes(reader.page) == []
    dialog.get_by_role("button", name="Close").click()
    reader.send("And low?")
    reader.expect_echo("And low?", index=1)
    choose(reader, "Share")
    expect(link.get_by_label("Show reasoning and what tools did")).to_be_checked()
    link.get_by_role("button", name="Update the link").click()
    expect(link.get_by_role("button", name="Update the link")).to_have_count(0)
    with Reader.at(browser, reader.page.url) as stranger:
        stranger.page.goto(link.get_by_label("Link", exact=True).input_value())
        expect(stranger.page.get_by_role("article", name="Answer")).to_have_count(2)


def test_a_visitor_logs_in_and_continues_a_shared_chat_in_an_account_of_their_own(
    browser: Browser, reader: Reader, newcomer: str
) -> None:
    reader.send("How often is the tide high?")
    reader.expect_echo("How often is the tide high?")
    _, address = link_made(reader)
    with Reader.at(browser, reader.base_url) as visitor:
        page = visitor.page
        page.goto(address)
        page.get_by_role("link", name="Continue in my account").click()
        visitor.fill_in(newcomer, newcomer)
        expect(page.get_by_role("heading", name="Continue in your account")).to_be_visible()
        assert violations_in_both_themes(page) == []
        page.get_by_role("button", name="Copy and continue").click()
        visitor.wait_until_ready()
        expect(visitor.questions.locator(".question-text")).to_have_text(["How often is the tide high?"])
        visitor.send("And low?")
        visitor.expect_echo("And low?", index=1)
        assert visitor.errors == []
    expect(reader.questions).to_have_count(1)


def chat_of(messages: int) -> dict[str, Any]:
    """The file of a chat of so many questions and answers."""
    sent_at = "2026-01-01T00:00:00Z"
    root: dict[str, Any] = {"id": 0, "role": "root", "sent_at": sent_at, "latest_child": 1}
    replies: list[dict[str, Any]] = [
        {
            "id": n,
            "role": "user" if n % 2 else "assistant",
            "parent": n - 1,
            "text": f"Text {n}",
            "sent_at": sent_at,
        }
        for n in range(1, messages + 1)
    ]
    for reply in replies[:-1]:
        reply["latest_child"] = reply["id"] + 1
    return {"format": "turnwire.session", "version": 2, "messages": [root, *replies]}


def bring_in(reader: Reader, path: Path) -> None:
    dialog = reader.page.get_by_role("dialog", name="Import a chat")
    if not dialog.is_visible():
        reader.page.locator("#account").click()
        reader.page.get_by_role("menuitem", name="Import a chat").click()
    with reader.page.expect_file_chooser() as chooser:
        dialog.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(path)


def read_to_the_end(page: Page) -> None:
    more = page.get_by_role("button", name="Show more")
    while more.is_visible():
        before = page.get_by_role("article").count()
        more.scroll_into_view_if_needed()
        wait_for_script(
            page,
            "before => document.querySelectorAll('article').length > before"
            " || !document.querySelector('main > button').checkVisibility()",
            arg=before,
        )


def test_a_visitor_who_reads_on_gets_every_message_until_the_link_is_revoked(
    browser: Browser, reader: Reader, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat_of(350)))
    first = reader.page.url
    bring_in(reader, path)
    wait_for_script(reader.page, "first => location.href !== first", arg=first)
    dialog, address = link_made(reader)
    with Reader.at(browser, reader.page.url) as stranger:
        stranger.page.goto(address)
        messages = stranger.page.get_by_role("article")
        expect(messages).to_have_count(100)
        read_to_the_end(stranger.page)
        expect(messages).to_have_count(350)
        texts = messages.locator(".question-text, .body").all_text_contents()
        assert [text.strip() for text in texts] == [f"Text {n}" for n in range(1, 351)]
        assert stranger.context.cookies() == []
        # A reload would return to where the visitor was.
        stranger.page.goto("about:blank")
        stranger.page.goto(address)
        expect(messages).to_have_count(100)
        dialog.get_by_role("button", name="Revoke").click()
        expect(dialog.get_by_label("Link", exact=True)).to_have_count(0)
        stranger.page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
        expect(stranger.page.get_by_role("alert")).to_have_text("This chat is not shared any more.")


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

    bring_in(reader, files["md"])
    expect(reader.page.get_by_role("alert")).to_contain_text("not a chat that was exported")
    bring_in(reader, files["json"])
    wait_for_script(reader.page, "first => location.href !== first", arg=first)
    expect(reader.questions.locator(".question-text")).to_have_text(["Keep this"])
    reader.expect_echo("Keep this")


def test_a_chat_with_a_file_is_imported_and_exported_with_it(reader: Reader, tmp_path: Path) -> None:
    archive, damaged = tmp_path / "chat.zip", tmp_path / "damaged.zip"
    archive.write_bytes(archives.archive_of_one(b"Two tides a day." * 100_000))
    damaged.write_bytes(archive.read_bytes()[:-40])
    first = reader.page.url
    bring_in(reader, damaged)
    expect(reader.page.get_by_role("alert")).to_contain_text("This file cannot be imported")
    bring_in(reader, archive)
    wait_for_script(reader.page, "first => location.href !== first", arg=first)
    expect(reader.page.get_by_role("dialog")).to_have_count(0)
    expect(reader.questions.locator(".question-text")).to_have_text(["?"])
    with reader.page.expect_download() as download:
        choose(reader, "Export with files")
    assert download.value.suggested_filename.endswith(".zip")
    download.value.save_as(tmp_path / "again.zip")
    given, found = (archives.unpacked((tmp_path / name).read_bytes()) for name in ("chat.zip", "again.zip"))
    assert found["files/1"] == given["files/1"]


def test_the_import_of_an_archive_shows_its_progress_and_is_cancelled(reader: Reader, tmp_path: Path) -> None:
    archive = tmp_path / "chat.zip"
    archive.write_bytes(archives.archive_of_one())
    first = reader.page.url
    # It is never answered.
    reader.page.route("**/api/sessions/import/", lambda _route: None)
    bring_in(reader, archive)
    dialog = reader.page.get_by_role("dialog", name="Import a chat")
    expect(dialog.get_by_role("progressbar", name="Sent")).to_be_visible()
    expect(dialog.get_by_role("status")).to_have_text("Sending chat.zip …")
    assert violations_in_both_themes(reader.page) == []
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    expect(reader.page.get_by_role("alert")).to_be_hidden()
    assert reader.page.url == first
    reader.page.unroute("**/api/sessions/import/")


def test_the_import_says_what_it_takes_before_a_file_is_chosen_and_takes_one_that_is_dropped(
    reader: Reader,
) -> None:
    page = reader.page
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Import a chat").click()
    dialog = page.get_by_role("dialog", name="Import a chat")
    for product in ("Turnwire", "ChatGPT", "Claude", "DeepSeek", "Open WebUI", "LibreChat"):
        expect(dialog.get_by_role("list")).to_contain_text(product)
    assert violations_in_both_themes(page) == []
    place = dialog.get_by_text("or drop it here")
    drop_on(place, ("notes.md", "text/markdown", b"# Tides"))
    expect(dialog.get_by_role("alert")).to_contain_text("not a chat that was exported")
    # The same dialog takes the next one.
    first = page.url
    drop_on(place, ("chat.json", "application/json", json.dumps(chat_of(2)).encode()))
    wait_for_script(page, "first => location.href !== first", arg=first)
    expect(dialog).to_have_count(0)
    expect(reader.questions.locator(".question-text")).to_have_text(["Text 1"])


def test_chats_of_another_product_are_imported_and_those_that_cannot_be_read_are_named(
    reader: Reader, tmp_path: Path
) -> None:
    broken = examples.chatgpt(conversation_id="c-2", title="Broken")
    broken["mapping"]["ask"]["message"]["content"]["parts"] = "How low?"
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([examples.chatgpt(), broken], indent=1), encoding="utf-8")
    zipped = tmp_path / "chatgpt.zip"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(export, "export/conversations-000.json")
        file.writestr("export/export_manifest.json", "{}")
    dialog = reader.page.get_by_role("dialog", name="Import a chat")
    bring_in(reader, zipped)
    expect(dialog.get_by_role("status")).to_have_text("1 chat was imported.")
    expect(dialog.get_by_role("listitem")).to_contain_text("export/conversations-000.json, line ")
    dialog.get_by_role("button", name="Close").click()
    bring_in(reader, export)
    expect(dialog).to_contain_text("1 was there already.")
    expect(dialog.get_by_role("listitem")).to_contain_text("Broken")
    expect(dialog.get_by_role("listitem")).to_contain_text("1.mapping.ask.message.content.parts")
    dialog.get_by_role("button", name="Close").click()
    lacking = examples.claude(name="Sea")
    lacking["chat_messages"][2]["text"] = ""
    export.write_text(json.dumps([lacking]), encoding="utf-8")
    bring_in(reader, export)
    expect(dialog).to_contain_text("Imported with something missing: 1")
    expect(dialog.get_by_role("listitem")).to_contain_text("An answer is empty.")
    assert violations_in_both_themes(reader.page) == []
    dialog.get_by_role("button", name="Close").click()
    reader.page.locator("#sessions").get_by_role("link", name="Tides").click()
    expect(reader.questions.locator(".question-text")).to_have_text(
        ["How high are the tides?", "And the lowest?"]
    )


def test_an_import_that_ends_early_says_what_was_imported_and_what_went_wrong(
    reader: Reader, tmp_path: Path
) -> None:
    export = tmp_path / "conversations.json"
    export.write_text("[]")
    first = {"imported": [{"is_new": True}], "refused": [], "remarks": [], "is_complete": False}
    answers = [(200, first), (503, {"code": "unavailable", "message": "Later."})]

    def answer(route: Route) -> None:
        status, body = answers.pop(0)
        route.fulfill(status=status, json=body)

    reader.page.route("**/api/sessions/import/foreign/", answer)
    bring_in(reader, export)
    dialog = reader.page.get_by_role("dialog", name="Import a chat")
    expect(dialog.get_by_role("status")).to_have_text("1 chat was imported.")
    expect(dialog.get_by_role("alert")).to_be_visible()
