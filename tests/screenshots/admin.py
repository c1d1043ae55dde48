"""The pictures of the admin: `python -m tests.screenshots.admin`. Written to docs/screenshots/admin-*.png."""

from playwright.sync_api import sync_playwright

from tests.browser import admin_scene
from tests.browser.launching import launch_chromium
from tests.screenshots.__main__ import TARGET, stack

# So that a run's axis of time looks like one of a real model.
PACE_S = 0.12


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with stack() as running, sync_playwright() as playwright:
        invented = running.manage("shell", "-c", "from tests.screenshots.history import invent; invent()")
        assert "Error" not in invented, invented
        scene = admin_scene.play(running, pace_s=PACE_S)
        browser = launch_chromium(playwright)
        admin_scene.shoot(browser, running, scene, TARGET)


if __name__ == "__main__":
    main()
