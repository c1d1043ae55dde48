"""A chat on paper: the loaded branch as a whole, in light colours, without what is only operated."""

from collections.abc import Iterator

import pypdfium2
import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.browser.test_cut_network import Direct
from tests.browser.test_found_messages import long_chat
from tests.stack import Stack

pytestmark = pytest.mark.browser
OPERATED = (
    "#sidebar", "#composer", "#session-menu", "#tree-toggle", "#sidebar-toggle", "#skip", ".message footer .actions",
    ".message footer .icon-button", ".code-head .buttons", ".to-end-place",
)  # fmt: skip
LONG = "\n\n".join(f"Paragraph {number} of the answer, which takes several pages." for number in range(150))
ANSWER = f"""{LONG}

| water | hour |
|---|---|
| highest | twelve |

```python
{"word = 1  # " + "very long " * 30}
```

The last line.
"""


@pytest.fixture
def printed(reader: Reader, stack: Stack) -> Iterator[Reader]:
    """A chat of several pages, as it is printed from a dark page."""
    reader.send("The first question\n\n" + "\n\n".join(f"Line {number}" for number in range(90)))
    expect(reader.answers.first).to_have_attribute("aria-busy", "false")
    stack.upstream.reply({"text": ANSWER})
    reader.send("The second question")
    expect(reader.answers.nth(1)).to_contain_text("The last line.")
    expect(reader.answers.nth(1)).to_have_attribute("aria-busy", "false")
    reader.page.emulate_media(media="print", color_scheme="dark")
    yield reader
    reader.page.emulate_media(media="null")


def printed_pages(reader: Reader) -> list[str]:
    with pypdfium2.PdfDocument(reader.page.pdf(format="A4")) as document:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def test_paper_has_no_controls_and_is_light_whatever_the_theme(printed: Reader) -> None:
    page = printed.page
    for operated in OPERATED:
        for one in page.locator(operated).all():
            expect(one).to_be_hidden()
    expect(page.locator("#title")).to_be_visible()
    for theme in ("dark", "light"):
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(page.locator("body")).to_have_css("color", "rgb(31, 34, 38)")
    for time in page.locator(".message time.sent").all():
        expect(time).to_have_css("opacity", "1")


def test_nothing_is_cut_off_by_what_scrolls_on_a_screen(printed: Reader) -> None:
    clipped = printed.page.evaluate(
        """() => [...document.querySelectorAll("body, main, #scroller, .question-text, .markdown pre, .markdown .table")]
            .filter((one) => getComputedStyle(one).overflowY !== "visible" || one.scrollWidth > one.clientWidth + 1)
            .map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert clipped == []


def test_all_pages_of_the_branch_are_printed(printed: Reader) -> None:
    printed.page.emulate_media(media="null")
    pages = printed_pages(printed)
    text = " ".join(" ".join(pages).split())
    assert len(pages) > 3
    for part in (
        "The first question",
        "Line 89",
        "Paragraph 0 of",
        "Paragraph 149 of",
        "twelve",
        "The last line.",
    ):
        assert part in text
    assert all(page.strip() for page in pages)
    assert "Search" not in text


def test_a_print_says_that_messages_above_were_not_read(reader: Reader, stack: Stack) -> None:
    Direct(reader, stack.base_url).post("sessions/import/", long_chat())
    reader.page.reload()
    reader.page.locator("#sessions").get_by_role("link", name="Zoo").click()
    expect(reader.page.locator("article.answer").last).to_be_visible()
    assert "Earlier messages of this chat are missing here" in " ".join(
        " ".join(printed_pages(reader)).split()
    )
    expect(reader.page.locator(".older .on-paper")).to_be_hidden()
