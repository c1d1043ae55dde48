"""Charts of answers are drawn in the colours of one palette, with a legend, for light and dark pages."""

from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reader import Reader
from tests.browser.test_previews import DRAWN, answer
from tests.stack import Stack
from tests.web.page.test_chart_colours import PALETTE

pytestmark = pytest.mark.browser

PARTS = [f"Part {letter}" for letter in "ABCDEFGHIJ"]


def chart(first: str, line: str) -> str:
    """The source of a chart with ten parts. line: of each, with its name and its number."""
    return "\n".join([first, *(f"  {line.format(name=name, at=at)}" for at, name in enumerate(PARTS, 1))])


CHARTS = {
    "pie": chart("pie showData", '"{name}" : {at}'),
    "lines": chart("xychart-beta\n  x-axis [May, June]", 'line "{name}" [{at}, {at}]'),
    "bars": chart("xychart-beta\n  x-axis [May, June]", 'bar "{name}" [{at}, {at}]'),
    "radar": chart("radar-beta\n  axis a, b, c", 'curve c{at}["{name}"]{{{at}, {at}, 9}}'),
}
# The colours of all parts, as #rrggbb.
COLOURS = """() => [...document.querySelectorAll("path, rect, polygon")]
    .flatMap((part) => [getComputedStyle(part).fill, getComputedStyle(part).stroke])
    .map((colour) => "#" + (colour.match(/\\d+/g) ?? []).slice(0, 3).map((part) => Number(part).toString(16).padStart(2, "0")).join(""))"""


@pytest.fixture
def picture(reader: Reader) -> Iterator[Page]:
    """A page for one picture, whose parts are read: in the chat it is an image."""
    page = reader.page.context.new_page()
    yield page
    page.close()


@pytest.mark.parametrize("source", CHARTS.values(), ids=CHARTS)
def test_ten_parts_of_a_chart_have_ten_colours_and_names_in_a_legend(
    reader: Reader, picture: Page, stack: Stack, source: str
) -> None:
    shown = answer(reader, stack, f"```mermaid\n{source}\n```")
    expect(shown.locator(DRAWN)).to_be_visible()
    for theme in ("light", "dark"):
        address = shown.locator(f".diagram img.of-{theme}").get_attribute("src") or ""
        picture.set_content(unquote(address.partition(",")[2]))
        drawn, words = picture.evaluate(COLOURS), picture.locator("svg").text_content() or ""
        assert [colour for colour in PALETTE if colour not in drawn] == []
        assert [name for name in PARTS if name not in words] == []
