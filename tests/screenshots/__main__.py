"""The pictures of the README: `python -m tests.screenshots [scene …]` (make screenshots).

A whole instance with scripted models is started, alice talks to it, and every scene is photographed on a desktop and
on a phone, in light and dark. Written to docs/screenshots/.
"""

import contextlib
import sys
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import services as test_services
from tests.browser.launching import launch_chromium
from tests.instance import ROOT
from tests.screenshots.scenes import SCENES, World
from tests.search_server import SearchServer
from tests.stack import Stack
from tests.upstream import Upstream

TARGET = ROOT / "docs" / "screenshots"
DEVICES = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "has_touch": True,
        "is_mobile": True,
    },
}
SCHEMES = ("light", "dark")


def main(wanted: list[str]) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with stack() as running, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        with alice(browser, running, {}) as page:
            world = World(running, page)
            world.talk()
        for device, options in DEVICES.items():
            for scheme in SCHEMES:
                with alice(browser, running, {**options, "color_scheme": scheme}) as page:
                    for name in wanted or SCENES:
                        SCENES[name](page, world)
                        photograph(page, f"{name}-{device}-{scheme}")


@contextlib.contextmanager
def stack() -> Iterator[Stack]:
    services = test_services.start_for_this_process()
    with (
        Upstream() as upstream,
        SearchServer() as searching,
        Stack.running(services, upstream, searching) as running,
    ):
        yield running


@contextlib.contextmanager
def alice(browser: Browser, stack: Stack, options: dict[str, object]) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce", **options)
    page = context.new_page()
    page.goto(f"{stack.base_url}/login/")
    page.get_by_label("Username").fill("alice")
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#composer-text")).to_be_visible()
    yield page
    context.close()


def photograph(page: Page, name: str) -> None:
    page.wait_for_timeout(400)  # images of fonts and folds settle; nothing depends on it
    path = TARGET / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    sys.stdout.write(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
