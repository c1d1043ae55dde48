"""The bytes that a first visit transfers."""

import gzip

import pytest
from playwright.sync_api import Browser, Response, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

SCRIPT_KB = 150
# Loaded with the first text that needs them.
LATER = ("vendor/temml.js", "vendor/highlight.js")


def test_a_first_visit_loads_little_script_and_all_of_it_from_here(browser: Browser, stack: Stack) -> None:
    with Reader.at(browser, stack.base_url) as reader:
        seen: list[Response] = []
        reader.page.on("response", lambda response: seen.append(response))  # noqa: PLW0108  marks what it is given
        reader.log_in_by_cookie("alice")
        expect(reader.page.locator("#connection")).to_be_hidden()
        # As transferred: compressed.
        scripts = {
            each.url: each.request.sizes()["responseBodySize"]
            for each in seen
            if each.request.resource_type == "script"
        }
        sizes = {url.removeprefix(stack.base_url): size for url, size in scripts.items()}
        later = {
            name: len(gzip.compress(reader.page.request.get(f"{stack.base_url}/static/{name}").body()))
            for name in LATER
        }
        print(f"{sum(sizes.values()):,} bytes of script in {len(sizes)} files; later {later}")
        assert len(sizes) > 10
        assert all(url.startswith(f"{stack.base_url}/") for url in scripts)
        stems = tuple(name.removesuffix("js") for name in LATER)
        assert not any(stem in url for url in scripts for stem in stems)
        assert sum(sizes.values()) <= SCRIPT_KB * 1024, sorted(sizes.items(), key=lambda item: -item[1])[:20]
