"""What the pages load of the static files: by names with hashes, compressed, and from the cache the next time."""

import re

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

RICH = "Inline $x^2$\n\n$$\n\\frac{a}{b}\n$$\n\n```python\nprint(1)\n```\n"
HASHED = re.compile(r"\.[0-9A-Z]{8}\.\w+$")
# Compressed by their formats, or shorter than what compressing adds.
NEVER_COMPRESSED = (".woff2", ".png")
SMALL = 200


class Loads:
    """The responses with static files that a page has received."""

    def __init__(self, page: Page) -> None:
        self.all: list[Response] = []
        page.on("response", self._note)

    def _note(self, response: Response) -> None:
        assert response.status != 404, response.url
        if "/static/" in response.url:
            self.all.append(response)

    def check(self) -> None:
        assert self.all
        for response in self.all:
            headers = response.headers
            assert HASHED.search(response.url), response.url
            assert headers["cache-control"] == "public, max-age=31536000, immutable", response.url
            is_small = int(headers["content-length"]) < SMALL
            if not response.url.endswith(NEVER_COMPRESSED) and not is_small:
                assert headers["content-encoding"] == "br", response.url
                assert headers["vary"] == "Accept-Encoding"

    def names(self) -> set[str]:
        return {
            HASHED.sub("", response.url.partition("/static/")[2])
            for response in self.all
            if "/chunk." not in response.url
        }


def test_everything_the_page_loads_is_hashed_compressed_and_cached(browser: Browser, stack: Stack) -> None:
    stack.upstream.reply({"text": RICH})
    with Reader.at(browser, stack.base_url) as reader:
        loads = Loads(reader.page)
        reader.log_in("alice", "alice")
        reader.wait_until_ready()
        reader.send("Show all you can")
        expect(reader.answers.locator("math").first).to_be_visible()
        expect(reader.answers.locator("code span[class]").first).to_be_visible()
        reader.page.locator("#tree-toggle").click()
        reader.page.wait_for_load_state("networkidle")
        reader.page.locator("#account").click()
        reader.page.get_by_role("menuitem", name="Settings").click()
        expect(reader.page.locator("dialog[open]")).to_be_visible()
        loads.check()
        later = {"bundle/temml", "bundle/highlighter", "bundle/tree_panel", "bundle/settings_dialog"}
        assert {"bundle/page", "bundle/login", *later} <= loads.names()
        # None twice: a module that two files contained would run twice.
        assert not [name for name in loads.names() if name.startswith("vendor/")]
        assert reader.errors == []


def test_a_second_visit_asks_for_no_static_file(browser: Browser, stack: Stack) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in_by_cookie("alice")
        reader.page.wait_for_load_state("networkidle")
        # Chromium reports what its cache answers as requests too; the size of what came over the network is 0.
        for visit in (reader.page.reload, lambda: reader.page.goto(f"{stack.base_url}/")):
            visit()
            reader.wait_until_ready()
            reader.page.wait_for_load_state("networkidle")
            sizes = reader.page.evaluate(
                """() => performance.getEntriesByType("resource")
                    .filter((each) => each.name.includes("/static/")).map((each) => each.transferSize)"""
            )
            assert len(sizes) >= 2
            assert sum(sizes) == 0


@pytest.mark.parametrize("address", ["/admin/", "/admin/chat/run/", "/admin/auth/user/add/", "/api/docs/"])
def test_the_admin_and_the_description_of_the_api_load_the_same_way(
    browser: Browser, stack: Stack, address: str
) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in_by_cookie("root")
        reader.page.wait_for_load_state("networkidle")
        loads = Loads(reader.page)
        answer = reader.page.goto(f"{stack.base_url}{address}")
        assert answer
        assert answer.status == 200
        reader.page.wait_for_load_state("networkidle")
        loads.check()
