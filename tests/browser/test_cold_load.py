"""What a first visit costs: requests, bytes, and how far the page moves while it appears."""

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.reader import Reader, wait_two_frames
from tests.stack import Stack

pytestmark = pytest.mark.browser

REQUESTS = 12
COMPRESSED_KB = 130
SHIFTS = 0.05
# Loaded with the first text that needs them.
LATER = ("temml", "highlight", "noto-sans-math", "preview")
DEVICES = {
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    "computer": {"viewport": {"width": 1280, "height": 900}},
}
# The sum of all shifts, which is never smaller than CLS.
OBSERVER = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
  .observe({ type: "layout-shift", buffered: true });
"""


def moved(page: Page) -> float:
    wait_two_frames(page)
    return float(page.evaluate("shifts.reduce((sum, each) => sum + each, 0)"))


@pytest.mark.parametrize("device", DEVICES)
def test_a_first_visit_asks_for_little_all_of_it_from_here_and_the_page_stays_in_place(
    browser: Browser, stack: Stack, device: str
) -> None:
    with Reader.at(browser, stack.base_url, **DEVICES[device]) as reader:
        seen: list[Response] = []
        reader.page.on("response", lambda response: seen.append(response))  # noqa: PLW0108  marks what it is given
        reader.page.add_init_script(OBSERVER)
        reader.log_in_by_cookie("alice")
        expect(reader.page.locator("#connection")).to_be_hidden()
        reader.page.wait_for_load_state("networkidle")
        assert all(each.url.startswith(f"{stack.base_url}/") for each in seen)
        assert not [each.url for each in seen if any(f"/{name}" in each.url for name in LATER)]
        assert len(seen) <= REQUESTS, [each.url for each in seen]
        # As transferred: compressed.
        sizes = [each.request.sizes() for each in seen]
        assert sum(each["responseBodySize"] for each in sizes) <= COMPRESSED_KB * 1024
        assert moved(reader.page) < SHIFTS
