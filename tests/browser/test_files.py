"""Files in a chat: dropped, pasted or picked, uploaded, read, sent, cited and opened again."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.file_drops import DRAG, Content, cards, drop, encoded, expect_state, held_uploads, paste
from tests.browser.reader import Reader, wait_for_script
from tests.faults.proxy import TO_SERVER, Proxy
from tests.ingest import documents
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("ingest")]

TIDES = ("tides.txt", "text/plain", b"Two tides a day, and one moon.")
BOOK = ("book.pdf", "application/pdf", documents.pdf("The Moon pulls the sea.", "Twice a day."))
MOON = ("moon.png", "image/png", documents.picture("PNG", (640, 480)))
LOCKED = ("locked.pdf", "application/pdf", documents.encrypted_pdf())
# More tokens than a request to any model of the tests takes.
HUGE = ("huge.txt", "text/plain", " ".join(f"{number} tides" for number in range(60_000)).encode())
READ = "async (path) => (await fetch(`/api/${path}`)).json()"
# A large file is made in the browser.
DROP_LARGE = """([name, line, times]) => {
    const data = new DataTransfer();
    data.items.add(new File([line.repeat(times)], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def stored(reader: Reader) -> list[str]:
    """The names of the user's files, the newest first."""
    return [file["name"] for file in reader.page.evaluate(READ, "files/?limit=100")["results"]]


def attach(reader: Reader, *files: Content) -> None:
    """Drop files and wait until they are ready."""
    drop(reader.page, *files)
    for name, _, _ in files:
        expect_state(reader.page, name, "ready")


def note(card: Locator) -> Locator:
    return card.locator(".file-note")


def status(page: Page) -> Locator:
    return page.locator("#composer [data-file-status]")


@pytest.mark.core
def test_three_dropped_files_become_ready_and_an_answer_cites_one(reader: Reader, stack: Stack) -> None:
    page = reader.page
    stack.upstream.reply({"text": "Twice [2]."}, contains="How often?")
    page.locator("#conversation").evaluate(DRAG, [encoded((TIDES,)), "dragover"])
    expect(page.get_by_text("Drop files to attach them")).to_be_visible()
    drop(page, TIDES, BOOK, MOON)
    expect(page.get_by_text("Drop files to attach them")).to_be_hidden()
    expect(cards(page)).to_have_count(3)
    expect(note(expect_state(page, "tides.txt", "ready"))).to_have_text("TXT · 10 tokens")
    expect(note(expect_state(page, "book.pdf", "ready"))).to_have_text(re.compile(r"^PDF · \d+ tokens$"))
    expect(expect_state(page, "moon.png", "ready").locator("img")).to_have_attribute(
        "src", re.compile("^data:")
    )
    reader.send("How often?")
    expect(cards(page)).to_have_count(0)
    reader.expect_answer("Twice 1.")
    sent = str(stack.upstream.requests[0].messages)
    assert "one moon" in sent
    assert "The Moon pulls the sea." in sent
    for _ in range(2):
        question = reader.questions.first
        expect(question.locator(".file-name")).to_have_text(["tides.txt", "book.pdf", "moon.png"])
        thumbnail = question.locator("img")
        expect(thumbnail).to_have_attribute("src", re.compile("/thumbnail/$"))
        assert thumbnail.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 256
        open_citation(reader)
        page.reload()


def open_citation(reader: Reader) -> None:
    """Of the book, by keyboard; close it again."""
    chip = reader.answers.get_by_role("button", name="Source 1: book.pdf")
    chip.press("Enter")
    viewer = reader.page.get_by_role("dialog", name="book.pdf")
    expect(viewer).to_contain_text("PDF · ")
    if reader.page.evaluate("navigator.pdfViewerEnabled"):
        expect(viewer.locator("iframe")).to_have_attribute("src", re.compile("^blob:"))
        viewer.get_by_role("button", name="Text", exact=True).click()
    expect(viewer.get_by_role("region", name="Text")).to_contain_text("The Moon pulls the sea.")
    reader.page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    expect(chip).to_be_focused()


def test_a_file_opens_in_a_viewer_from_which_it_is_downloaded(reader: Reader) -> None:
    page = reader.page
    attach(reader, MOON, TIDES)
    cards(page).get_by_role("button", name="moon.png").first.click()
    viewer = page.get_by_role("dialog", name="moon.png")
    picture = viewer.get_by_role("img", name="moon.png")
    expect(viewer).to_contain_text(re.compile("640 . 480"))
    assert picture.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 640
    with page.expect_download() as download:
        viewer.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "moon.png"
    viewer.get_by_role("button", name="Close").click()
    opener = expect_state(page, "tides.txt", "ready").locator(".file-open")
    opener.press("Enter")
    expect(page.get_by_role("region", name="Text")).to_have_text("Two tides a day, and one moon.")
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


HAS_CONTENT = """() => new Promise((resolve) => {
    const request = indexedDB.open("turnwire.uploads");
    request.onsuccess = () => {
        const count = request.result.transaction("contents").objectStore("contents").count();
        count.onsuccess = () => (request.result.close(), resolve(count.result > 0));
    };
})"""


def test_a_reload_in_the_middle_of_an_upload_goes_on_with_it(reader: Reader) -> None:
    page = reader.page
    before = stored(reader).count("tides.txt")
    with held_uploads(page) as held:
        drop(page, TIDES)
        expect(note(expect_state(page, "tides.txt", "uploading"))).to_have_text(re.compile("^uploading"))
        reader.field.fill("How often?")
        # The browser has stored the content.
        wait_for_script(page, HAS_CONTENT)
        page.reload()
        expect_state(page, "tides.txt", "uploading")
        held.pop(0).abort()
    expect_state(page, "tides.txt", "ready")
    expect(reader.field).to_have_value("How often?")
    assert stored(reader).count("tides.txt") == before + 1
    page.reload()
    expect_state(page, "tides.txt", "ready")
    expect(cards(page)).to_have_count(1)


def test_a_copy_of_the_tab_leaves_the_upload_to_it(reader: Reader) -> None:
    page = reader.page
    before = stored(reader).count("tides.txt")
    with held_uploads(page) as waiting:
        drop(page, TIDES)
        expect_state(page, "tides.txt", "uploading")
        wait_for_script(page, HAS_CONTENT)
        with page.expect_popup() as opened:
            page.evaluate("void window.open(location.href)")
        # It begins with what the tab has stored.
        expect(opened.value.get_by_label("Message", exact=True)).to_be_focused()
        wait_for_script(opened.value, "() => !JSON.stringify({ ...sessionStorage }).includes('tides.txt')")
        assert "tides.txt" in page.evaluate("JSON.stringify({ ...sessionStorage })")
        assert len(waiting) == 1
    expect_state(page, "tides.txt", "ready")
    assert stored(reader).count("tides.txt") == before + 1


def test_an_upload_whose_content_a_reload_lost_says_so(reader: Reader) -> None:
    page = reader.page
    page.evaluate("void (indexedDB.open = () => { throw new Error('denied'); })")
    with held_uploads(page) as held:
        drop(page, TIDES)
        expect_state(page, "tides.txt", "uploading")
        page.reload()
        card = expect_state(page, "tides.txt", "failed")
        held.pop(0).abort()
    expect(note(card)).to_have_text("The upload was interrupted. Remove this file and attach it again.")
    card.get_by_role("button", name="Remove:").click()
    page.reload()
    reader.wait_until_ready()
    expect(cards(page)).to_have_count(0)


def test_an_upload_that_the_network_cuts_says_so_and_goes_on_when_it_is_back(
    browser: Browser, stack: Stack
) -> None:
    with Proxy.before(stack.base_url) as proxy, Reader.at(browser, proxy.url) as reader:
        reader.log_in_by_cookie("alice")
        page = reader.page
        proxy.throttle(200_000, TO_SERVER)
        page.evaluate(DROP_LARGE, ["long.csv", "Monday,4.2\n", 1_500_000])
        card = expect_state(page, "long.csv", "uploading")
        expect(note(card)).to_have_text(re.compile(r"^uploading [1-9]\d?%$"))
        proxy.refuse()
        proxy.reset()
        expect_state(page, "long.csv", "failed")
        expect(note(card)).to_have_text("The server cannot be reached. Check your connection and try again.")
        expect(card.get_by_role("button", name="Try again: long.csv")).to_be_visible()
        card.get_by_role("button", name="Try again: long.csv").click()
        expect_state(page, "long.csv", "failed")
        proxy.heal()
        expect_state(page, "long.csv", "ready")
        assert stored(reader).count("long.csv") == 1


def test_a_removed_file_is_deleted_and_focus_goes_on(reader: Reader) -> None:
    page = reader.page
    attach(reader, TIDES, ("gone.txt", "text/plain", b"Gone."))
    assert "gone.txt" in stored(reader)
    with page.expect_response(lambda response: response.request.method == "DELETE") as deleted:
        expect_state(page, "gone.txt", "ready").get_by_role("button", name="Remove:").press("Enter")
    assert deleted.value.status == 204
    assert "gone.txt" not in stored(reader)
    expect(cards(page)).to_have_count(1)
    remaining = cards(page).get_by_role("button", name="Remove: tides.txt")
    expect(remaining).to_be_focused()
    remaining.press("Enter")
    expect(reader.field).to_be_focused()
    page.reload()
    reader.wait_until_ready()
    expect(cards(page)).to_have_count(0)


def test_a_cancelled_upload_leaves_nothing(reader: Reader) -> None:
    page = reader.page
    with held_uploads(page) as held:
        drop(page, ("never.txt", "text/plain", b"Never."))
        card = expect_state(page, "never.txt", "uploading")
        card.get_by_role("button", name="Remove:").click()
        expect(cards(page)).to_have_count(0)
        held.pop().abort()
    assert "never.txt" not in stored(reader)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (LOCKED, "This document is protected by a password. Save it without one, and attach it again."),
        (("empty.txt", "text/plain", b""), "This file is empty. Pick another one."),
        (("song.mp3", "audio/mpeg", b"ID3\x03\x00\x00" + b"\x00" * 600), "Files of this type cannot be read. Attach another kind of file."),
        (("tides.pdf", "application/pdf", documents.PROGRAM), "The content of this file is not what its name says. Check it and pick another one."),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_in_words(reader: Reader, file: Content, words: str) -> None:
    drop(reader.page, file)
    card = expect_state(reader.page, file[0], "failed")
    expect(note(card)).to_have_text(words)
    expect(card.get_by_role("button", name="Try again")).to_be_hidden()
    expect(reader.page.locator("#announcer")).to_have_text(f"{file[0]}: {words}")
    reader.field.fill("What is in it?")
    reader.field.press("Enter")
    expect(status(reader.page)).to_have_text("A file could not be attached. Remove it, or try again.")
    expect(reader.field).to_have_value("What is in it?")


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(reader: Reader) -> None:
    page = reader.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.evaluate(DROP_LARGE, ["sea.mov", "x", 25 * 2**20 + 1])
    card = expect_state(page, "sea.mov", "failed")
    expect(note(card)).to_have_text("This file is larger than 25 MiB. Pick a smaller one, or a part of it.")
    assert "POST" not in sent


def test_a_file_that_does_not_fit_a_chosen_model_is_marked(reader: Reader) -> None:
    attach(reader, HUGE, TIDES)
    card = expect_state(reader.page, "huge.txt", "ready")
    expect(note(card)).to_have_text("too large for alpha")
    expect(note(expect_state(reader.page, "tides.txt", "ready"))).to_have_text("TXT · 10 tokens")
    reader.pick("beta")
    expect(note(card)).to_have_text("too large for beta")
    reader.field.fill("Sum it up")
    reader.field.press("Enter")
    expect(reader.page.get_by_role("alert")).to_contain_text("the most that a picked model takes")
    # It came back with its files.
    expect(reader.field).to_have_value("Sum it up")
    expect(cards(reader.page)).to_have_count(2)


def test_a_message_waits_for_its_files(reader: Reader, stack: Stack) -> None:
    page = reader.page
    with held_uploads(page):
        drop(page, TIDES)
        reader.field.fill("How often?")
        reader.field.press("Enter")
        expect(status(page)).to_contain_text("Your message is sent as soon as its files are read.")
        status(page).get_by_role("button", name="Cancel").click()
        expect(status(page)).to_be_hidden()
        expect(reader.field).to_be_focused()
        reader.field.press("Enter")
        expect(status(page)).to_be_visible()
        assert stack.upstream.requests == []
    reader.expect_echo("How often?")
    expect(cards(page)).to_have_count(0)
    expect(reader.questions.locator(".file-name")).to_have_text("tides.txt")


def test_files_alone_are_a_message(reader: Reader, stack: Stack) -> None:
    page = reader.page
    attach(reader, TIDES)
    expect_state(page, "tides.txt", "ready")
    reader.field.press("Enter")
    expect(reader.questions.locator(".file-name")).to_have_text("tides.txt")
    expect(reader.questions.locator(".question-bubble")).to_be_hidden()
    expect(reader.answers).to_have_count(1)
    asked = stack.upstream.requests[0].messages
    assert "Two tides" in str(asked[-2]["content"])
    assert asked[-1]["content"].startswith("<sent_at>")


def test_drafts_with_files_survive_a_reload_and_are_the_same_in_all_tabs(reader: Reader) -> None:
    page = reader.page
    reader.send("Tides")
    reader.expect_echo("Tides")
    attach(reader, TIDES, BOOK)
    reader.field.fill("More:")
    page.reload()
    expect_state(page, "tides.txt", "ready")
    expect(reader.field).to_have_value("More:")
    second = reader.second_tab()
    expect(expect_state(second, "book.pdf", "ready")).to_contain_text("PDF · ")
    cards(page).get_by_role("button", name="Remove: book.pdf").click()
    expect(cards(second)).to_have_count(1)
    page.get_by_role("button", name="New chat").click()
    expect(cards(page)).to_have_count(0)
    page.go_back()
    expect_state(page, "tides.txt", "ready")
    reader.field.press("Enter")
    reader.expect_echo("More:", index=1)
    expect(cards(second)).to_have_count(0)


def test_an_upload_goes_on_while_another_chat_is_open(reader: Reader) -> None:
    page = reader.page
    reader.send("Tides")
    reader.expect_echo("Tides")
    with held_uploads(page):
        drop(page, TIDES)
        expect_state(page, "tides.txt", "uploading")
        page.get_by_role("button", name="New chat").click()
        expect(cards(page)).to_have_count(0)
    page.go_back()
    expect_state(page, "tides.txt", "ready")


def test_images_and_files_are_pasted_and_picked(reader: Reader) -> None:
    page = reader.page
    paste(reader.field, ("image.png", "image/png", MOON[2]))
    expect(expect_state(page, "image.png", "ready").locator("img")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    assert chooser.value.is_multiple()
    chooser.value.set_files(
        [{"name": name, "mimeType": kind, "buffer": content} for name, kind, content in (TIDES, BOOK)]
    )
    expect_state(page, "tides.txt", "ready")
    expect_state(page, "book.pdf", "ready")
    expect(cards(page).locator(".file-name")).to_have_text(["image.png", "tides.txt", "book.pdf"])


def test_an_edited_question_keeps_its_files_and_a_shared_page_names_them(
    browser: Browser, reader: Reader, stack: Stack
) -> None:
    attach(reader, TIDES)
    reader.send("How often?")
    reader.expect_echo("How often?")
    reader.edit(0, "How many?")
    reader.expect_echo("How many?")
    expect(reader.questions.locator(".file-name")).to_have_text("tides.txt")
    assert "one moon" in str(stack.upstream.requests[-1].messages)
    reader.choose_action("Share")
    dialog = reader.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create a link").click()
    with Reader.at(browser, stack.base_url) as stranger:
        stranger.page.goto(dialog.get_by_label("Link", exact=True).input_value())
        expect(stranger.page.get_by_role("list", name="Files")).to_have_text("tides.txt")
        assert (stranger.foreign_requests, stranger.errors) == ([], [])
    reader.page.keyboard.press("Escape")


def test_a_question_with_files_is_edited_to_files_alone(reader: Reader, stack: Stack) -> None:
    attach(reader, TIDES)
    reader.send("How often?")
    reader.expect_echo("How often?")
    stack.upstream.reply({"text": "Of the sea."}, times=1)
    reader.edit(0, "")
    reader.expect_answer("Of the sea.")
    expect(reader.questions.locator(".file-name")).to_have_text("tides.txt")
    assert "one moon" in str(stack.upstream.requests[-1].messages)
    assert "How often?" not in str(stack.upstream.requests[-1].messages)


def test_the_files_of_a_withdrawn_question_come_back(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Once"}, {"hang": True}, times=1)
    reader.send("First")
    reader.expect_partial_answer("Once")
    attach(reader, TIDES)
    reader.send("Second")
    expect(reader.questions).to_have_count(2)
    reader.questions.last.get_by_role("button", name="Cancel").click()
    expect(reader.field).to_have_value("Second")
    expect_state(reader.page, "tides.txt", "ready")
    # A message has it: it is not deleted.
    before = stored(reader).count("tides.txt")
    cards(reader.page).get_by_role("button", name="Remove: tides.txt").click()
    expect(cards(reader.page)).to_have_count(0)
    assert stored(reader).count("tides.txt") == before
    reader.stop.click()
    reader.expect_answer("Once")


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_files_are_accessible_and_fit_the_screen(reader: Reader, caller: Reader, device: str) -> None:
    reader = caller if device == "phone" else reader
    page = reader.page
    found = {}
    attach(reader, TIDES, BOOK, MOON, HUGE)
    drop(page, LOCKED)
    expect_state(page, "locked.pdf", "failed")
    with held_uploads(page) as held:
        drop(page, ("slow.txt", "text/plain", b"Slow."))
        expect_state(page, "slow.txt", "uploading")
        page.locator("#conversation").evaluate(DRAG, [encoded((TIDES,)), "dragover"])
        found["drop"] = violations_in_both_themes(page)
        page.locator("#conversation").evaluate(DRAG, [[], "drop"])
        found["composer"] = violations_in_both_themes(page)
        cards(page).get_by_role("button", name="Remove: slow.txt").click()
        held.pop().abort()
    for name in ("huge.txt", "locked.pdf"):
        cards(page).get_by_role("button", name=f"Remove: {name}").click()
    reader.send("How often?")
    reader.expect_echo("How often?")
    found["question"] = violations_in_both_themes(page)
    for name in ("tides.txt", "book.pdf", "moon.png"):
        reader.questions.locator(".file-open").filter(has_text=name).click()
        viewer = page.get_by_role("dialog", name=name)
        expect(viewer.locator(".file-body")).to_have_attribute("aria-busy", "false")
        found[name] = violations_in_both_themes(page)
        page.keyboard.press("Escape")
        expect(viewer).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_files_speak_german(reader: Reader) -> None:
    page = reader.page
    reader.context.add_cookies([{"name": "django_language", "value": "de", "url": reader.base_url}])
    page.reload()
    drop(page, TIDES, LOCKED)
    expect(note(expect_state(page, "tides.txt", "ready"))).to_have_text("TXT · 10 Token")
    expect(note(expect_state(page, "locked.pdf", "failed"))).to_contain_text("mit einem Passwort geschützt")
    page.locator("#conversation").evaluate(DRAG, [encoded((TIDES,)), "dragover"])
    expect(page.get_by_text("Dateien hier ablegen")).to_be_visible()
