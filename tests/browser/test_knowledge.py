"""Knowledge bases on the page: documents and their progress, members by role, search."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.browser.knowledge_scene import (
    FLOOD,
    TIDES,
    add_files,
    add_member,
    add_text,
    choose,
    create,
    document,
    expect_state,
    invitation,
    keeper,
    member,
    open_section,
    search,
)
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

LAW = {"name": "law.md", "mimeType": "text/markdown", "buffer": b"# Law\n\nNobody may dig in a dike."}
BROKEN = {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\nnothing"}


@pytest.fixture
def reader(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    with keeper(windows) as reader:
        yield reader


@pytest.mark.core
def test_documents_are_added_read_found_and_opened_at_the_passage(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    expect(page.locator("#knowledge")).to_contain_text("None yet.")
    add_text(page, "Tide tables", TIDES)
    add_files(page, LAW, BROKEN)
    expect_state(page, "law.md", "ready")
    expect_state(page, "broken.pdf", "failed")
    expect(document(page, "broken.pdf")).to_contain_text("damaged")
    expect(page.locator("#knowledge")).to_contain_text("3 documents · 1 failed")
    hits = search(page, "flood in Husum")
    expect(hits.first).to_contain_text("Tide tables")
    expect(hits.first).to_contain_text("no. 1 by words")
    hits.first.get_by_role("button").click()
    expect(page.locator("dialog mark")).to_be_in_viewport()
    expect(page.locator("dialog mark")).to_contain_text(FLOOD)
    page.keyboard.press("Escape")
    expect(search(page, "zebra")).to_have_count(0)
    expect(page.locator("#knowledge")).to_contain_text("Nothing was found.")


def test_a_document_is_renamed_replaced_and_deleted(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", "The ebb is at six.")
    choose(page, "Tide tables", "Rename")
    page.get_by_role("dialog").get_by_label("Title").fill("Tables of 2026")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect_state(page, "Tables of 2026", "ready")
    choose(page, "Tables of 2026", "Replace the text")
    expect(page.get_by_role("dialog").get_by_role("textbox", name="Text")).to_have_value("The ebb is at six.")
    page.get_by_role("dialog").get_by_role("textbox", name="Text").fill(FLOOD)
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect_state(page, "Tables of 2026", "ready")
    expect(search(page, "flood")).to_have_count(1)
    choose(page, "Tables of 2026", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".documents li")).to_have_count(0)
    expect(search(page, "flood")).to_have_count(0)
    page.reload()
    expect(page.locator("#knowledge")).to_contain_text("None yet.")


def test_a_file_dropped_on_the_documents_becomes_one_and_an_address_without_a_page_is_refused(
    reader: Reader,
) -> None:
    page = reader.page
    create(page, "Tides")
    page.evaluate(DROP, "dropped.txt")
    expect_state(page, "dropped.txt", "ready")
    expect(page.locator("#composer .file-card")).to_have_count(0)
    page.get_by_role("button", name="Add documents").click()
    page.get_by_role("menuitem", name="Address").click()
    page.get_by_role("dialog").get_by_label("Address").fill("http://127.0.0.1/secret")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.locator(".documents [data-state=failed]")).to_contain_text("not read")


DROP = """(name) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["Two tides a day."], name, { type: "text/plain" }));
    const target = document.querySelector("#knowledge .documents").closest("section");
    for (const type of ["dragenter", "dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
}"""


def test_owners_say_what_a_base_is_about_and_refused_hints_are_said_at_their_field(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    page.locator("#knowledge").get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Summary").fill("All about the sea")
    dialog.get_by_label("Topics").fill("tides\nfloods")
    dialog.get_by_label("Hint for restricted members").fill("Flood at 12")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Hint for restricted members")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("alert").filter(visible=True)).to_contain_text("no digits")
    dialog.get_by_label("Hint for restricted members").fill("Ask about floods")
    dialog.get_by_label("Keywords for restricted members").fill("tides")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    for text in ("All about the sea", "tides, floods", "Ask about floods"):
        expect(page.locator(".facts")).to_contain_text(text)
    page.reload()
    expect(page.locator(".facts")).to_contain_text("All about the sea")


def test_members_see_what_their_role_allows_as_soon_as_it_changes(reader: Reader, windows: Windows) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", TIDES)
    add_member(page, "nobody", "Reader")
    expect(page.locator(".inviting").get_by_role("alert").filter(visible=True)).to_contain_text("no user")
    with windows.borrowed("bob") as other:
        there = other.page
        open_section(there)
        add_member(page, "bob", "Restricted")
        expect(member(page, "bob")).to_have_count(1)
        there.reload()
        invitation(there, "Tides").get_by_role("button", name="Accept").click()
        there.locator(".base-rows").get_by_role("link", name="Tides").click()
        expect(there.locator(".protected")).to_be_visible()
        for part in ("Documents", "Members", "Search"):
            expect(there.get_by_role("region", name=part, exact=True)).to_be_hidden()
        expect(there.locator("#knowledge")).not_to_contain_text("Tide tables")
        page.get_by_label("Role of bob").select_option(label="Reader")
        expect(document(there, "Tide tables")).to_have_attribute("data-state", "ready")
        expect(there.get_by_role("button", name="Add documents")).to_be_hidden()
        expect(there.locator(".inviting")).to_be_hidden()
        expect(search(there, "flood")).not_to_have_count(0)
        page.get_by_label("Role of bob").select_option(label="Editor")
        expect(there.get_by_role("button", name="Add documents")).to_be_visible()
        add_files(there, LAW)
        expect_state(page, "law.md", "ready")
        member(page, "bob").get_by_role("button", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(there.locator("#title")).to_have_text("Knowledge")
        expect(there.locator(".base-rows li")).to_have_count(0)


def test_an_invitation_stands_apart_until_it_is_accepted_or_declined(
    reader: Reader, windows: Windows
) -> None:
    page = reader.page
    with windows.borrowed("bob") as other:
        there = other.page
        for answer in ("Decline", "Accept"):
            create(page, f"{answer} tides")
            add_member(page, "bob", "Reader")
            expect(member(page, "bob")).to_contain_text("invited")
        there.locator("#bases summary").click()
        expect(there.locator("#bases fieldset")).to_contain_text("A knowledge base holds documents")
        there.keyboard.press("Escape")
        open_section(there)
        expect(there.get_by_role("list", name="Knowledge bases")).to_be_hidden()
        invitation(there, "Decline tides").get_by_role("button", name="Decline").click()
        expect(invitation(there, "Decline tides")).to_have_count(0)
        invitation(there, "Accept tides").get_by_role("button", name="Accept").click()
        expect(there.get_by_role("list", name="Knowledge bases")).to_contain_text("Accept tides")
        expect(there.get_by_role("list", name="Invitations")).to_be_hidden()
        expect(member(page, "bob")).not_to_contain_text("invited")
        there.locator("#new-chat").click()
        there.locator("#bases summary").click()
        expect(there.locator("#bases").get_by_role("checkbox")).to_have_count(1)
        # Who is made an owner has not agreed that it counts.
        page.get_by_label("Role of bob").select_option(label="Owner")
        expect(member(page, "bob")).to_contain_text("ownership not accepted")
        there.keyboard.press("Escape")
        open_section(there)
        there.locator(".base-rows").get_by_role("link", name="Accept tides").click()
        there.get_by_role("button", name="Accept ownership").click()
        expect(there.locator(".invitation")).to_be_hidden()
        expect(member(page, "bob")).not_to_contain_text("ownership")


def test_a_member_leaves_and_the_last_owner_cannot(reader: Reader) -> None:
    page = reader.page
    create(page, "Tides")
    reader.choose_action("Leave")
    page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    expect(page.locator("#notice")).to_contain_text("needs an owner")
    reader.choose_action("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#title")).to_have_text("Knowledge")
    expect(page.locator(".base-rows li")).to_have_count(0)


def test_a_text_that_is_replaced_while_another_version_is_read_begins_with_the_one_before(
    reader: Reader,
) -> None:
    page = reader.page
    create(page, "Tides")
    add_text(page, "Tide tables", "The ebb is at six.")
    expect_state(page, "Tide tables", "ready")

    def as_being_read(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text().replace('"ready"', '"processing"'))

    page.route(re.compile(r"/documents/(\?|$)"), as_being_read)
    page.reload()
    expect_state(page, "Tide tables", "processing")
    choose(page, "Tide tables", "Replace the text")
    expect(page.get_by_role("dialog").get_by_role("textbox", name="Text")).to_have_value("The ebb is at six.")
