"""Citations of a manual: each opens at its own passage, marked whole, on its page."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Response, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.knowledge_scene import add_files, create, expect_state, keeper
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.ingest.documents import pdf
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

# A page of the manual describes one pump, by a name that no other page has.
PUMPS = [f"{kind}{number}" for kind in ("Amber", "Birch", "Cedar", "Delta") for number in range(10)]
ASKED = PUMPS[3::4]


def page_of(pump: str) -> list[str]:
    number = PUMPS.index(pump) + 1
    return [
        f"Pump {pump} is described on this page of the manual of the works.",
        *[f"Line {line} says how the pump is kept dry, clean and ready to start." for line in range(1, 8)],
        f"Its pressure is {100 + number} bar.",
    ]


MANUAL = {
    "name": "manual.pdf",
    "mimeType": "application/pdf",
    "buffer": pdf(*[") Tj 0 -14 Td (".join(page_of(pump)) for pump in PUMPS]),
}


@pytest.fixture
def reader(windows: Windows, stack: Stack, ingest: None) -> Iterator[Reader]:
    """Has a knowledge base with the manual."""
    with keeper(windows) as reader:
        create(reader.page, "Works")
        add_files(reader.page, MANUAL)
        expect_state(reader.page, "manual.pdf", "ready")
        yield reader


def note_missing(missing: list[str], response: Response) -> None:
    if response.status == 404:
        missing.append(response.url)


@pytest.mark.timeout(180)
def test_ten_of_ten_citations_of_a_manual_open_at_their_passage_and_name_its_page(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    queries = [f"pressure of pump {pump}" for pump in ASKED]
    stack.upstream.reply(
        {"call": {"name": "knowledge_base_search", "arguments": {"queries": queries}}}, times=1
    )
    # What is found first of each query has the numbers from 1 on.
    stack.upstream.reply({"text": " ".join(f"{pump} [{n}]" for n, pump in enumerate(ASKED, 1))})
    reader.send("What are the pressures?")
    missing: list[str] = []
    note = partial(note_missing, missing)
    page.on("response", note)
    chips = reader.answers.locator(".body .citation-chip")
    expect(chips).to_have_count(len(ASKED))
    for at, pump in enumerate(ASKED):
        chips.nth(at).click()
        viewer = page.get_by_role("dialog", name="manual.pdf")
        mark = viewer.locator("mark")
        expect(mark).to_be_in_viewport()
        assert mark.inner_text().split("\n") == page_of(pump)
        expect(viewer.locator(".viewer-bar .hint")).to_have_text(
            re.compile(rf"Page {PUMPS.index(pump) + 1}$")
        )
        if page.evaluate("navigator.pdfViewerEnabled"):
            viewer.get_by_role("button", name="Pages").click()
            expect(viewer.locator("iframe")).to_have_attribute(
                "src", re.compile(rf"^blob:.*#page={PUMPS.index(pump) + 1}$")
            )
        page.keyboard.press("Escape")
    page.remove_listener("response", note)
    assert missing == [], "the base of each document is known"


def test_a_citation_shows_and_marks_the_sentence_that_the_answer_rests_on(
    reader: Reader, stack: Stack
) -> None:
    page = reader.page
    pump = ASKED[0]
    search = {"name": "knowledge_base_search", "arguments": {"queries": [f"pressure of pump {pump}"]}}
    stack.upstream.reply({"call": search}, times=1)
    sentence = page_of(pump)[-1]
    words = sentence.removesuffix(".").split()
    text = f"Of {pump} I know two things. It has a {words[1]} of {words[3]} bar [1], and is kept."
    stack.upstream.reply({"text": text})
    reader.send("What is its pressure?")
    chip = reader.answers.locator(".body .citation-chip")
    expect(chip).to_have_count(1)
    chip.hover()
    # Its place in the passage is far behind the beginning, which the source has with it.
    expect(page.locator(".source-card mark")).to_have_text(sentence)
    chip.click()
    marked = page.get_by_role("dialog", name="manual.pdf").locator("mark .sentence")
    expect(marked).to_have_text(sentence)
    expect(marked).to_be_in_viewport()
    assert violations_in_both_themes(page) == []
