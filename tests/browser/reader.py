"""A user at the page: performs user actions, and records what the page must never do."""

import contextlib
import re
import time
from collections.abc import Iterator
from typing import Self

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect

LIMIT_MS = 30_000
expect.set_options(timeout=LIMIT_MS)


def wait_for_script(page: Page, script: str, arg: object = None) -> None:
    """Wait until a script's result is true. Playwright's own wait evaluates it in the page, where the content security
    policy forbids that from the second time on."""
    deadline = time.monotonic() + LIMIT_MS / 1000
    while not page.evaluate(script, arg):
        assert time.monotonic() < deadline, f"still not true: {script}"
        page.wait_for_timeout(50)


def wait_two_frames(page: Page) -> None:
    """Wait until the page has been told what its last frame moved and scrolled."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Reader:
    """One tab. foreign_requests: requests to other hosts; errors: script errors and content security policy violations."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.base_url = base_url
        self.context = context
        self.foreign_requests: list[str] = []
        self.errors: list[str] = []
        context.set_default_timeout(LIMIT_MS)
        # Only recorded: the browser's resolver blocks foreign hosts (launching.py). A route would delay every
        # request and disable the cache.
        context.on("request", self._note_foreign_request)
        self.page: Page = context.new_page()
        self.size = self.page.viewport_size
        self._watch(self.page)

    @classmethod
    @contextlib.contextmanager
    def at(cls, browser: Browser, base_url: str, **options: object) -> Iterator[Self]:
        context = browser.new_context(**options)
        try:
            yield cls(context, base_url)
        finally:
            context.close()

    def second_tab(self) -> Page:
        page = self.context.new_page()
        self._watch(page)
        page.goto(self.page.url)
        return page

    # User actions

    def log_in(self, name: str, password: str) -> None:
        self.page.goto(f"{self.base_url}/")
        self.fill_in(name, password)

    def fill_in(self, name: str, password: str) -> None:
        """Fill in the login form of the page or the admin, to which the browser was redirected."""
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in", exact=True).click()

    def log_in_by_cookie(self, name: str) -> None:
        """Open an empty page, logged in without the form, which is tested separately."""
        ask, form = self.context.request, f"{self.base_url}/login/"
        ask.get(form, max_retries=3)  # the server may be closing the connection, which was idle
        (token,) = [each["value"] for each in self.context.cookies() if each["name"] == "csrftoken"]
        fields = {"username": name, "password": name, "csrfmiddlewaretoken": token}
        answer = ask.post(form, form=fields, headers={"Referer": form}, max_redirects=0)
        assert answer.status == 302, answer.text()
        self.page.goto(f"{self.base_url}/")
        self.wait_until_ready()

    def leave(self) -> None:
        """Remove all state from the window."""
        for page in self.context.pages:
            page.close() if page is not self.page else page.unroute_all(behavior="ignoreErrors")
        self.context.set_offline(False)
        self.context.clear_permissions()
        # A page of the same origin without scripts: storage can be cleared, and no script writes it again.
        self.page.goto(f"{self.base_url}/health/live")
        self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.context.clear_cookies()
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size(self.size)
        self.page.emulate_media(color_scheme="null")

    def wait_until_ready(self) -> None:
        """Wait until the page has started and focused the composer."""
        expect(self.field).to_be_focused()

    def pick(self, model: str, *others: str) -> None:
        """Switch to a model, and compare it with others."""
        summary = self.page.locator("#models summary")
        summary.click()
        self.page.locator("#models").get_by_role("button", name=model, exact=True).click()
        expect(self.page.locator("#models[open]")).to_have_count(0)
        if others:
            summary.click()
            for other in others:
                self.page.get_by_label(f"Compare {other} side by side").check()
            self.page.keyboard.press("Escape")

    def expect_picked(self, *models: str) -> None:
        expect(self.page.locator("#models summary")).to_have_attribute(
            "aria-label", f"Models: {', '.join(models)}"
        )

    def send(self, text: str) -> None:
        """Send as soon as the page accepts it: an answer may be complete before the POST of its question has returned."""
        self.field.fill(text)
        send = self.page.locator("[data-send]")
        expect(send).to_be_enabled()
        # On a touch screen, Enter breaks the line.
        send.tap() if self.field.get_attribute("enterkeyhint") == "enter" else self.field.press("Enter")

    def edit(self, question: int, text: str) -> None:
        message = self.questions.nth(question)
        message.get_by_role("button", name="Edit").click()
        message.get_by_label("Edit your message").fill(text)
        message.get_by_role("button", name="Send").click()

    def choose_action(self, action: str) -> None:
        """Choose an entry of the open chat's menu."""
        self.page.locator("#session-menu").click()
        self.page.get_by_role("menuitem", name=action).click()

    # What the page shows

    @property
    def field(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def questions(self) -> Locator:
        return self.page.locator("article.user:not(.pending)")

    @property
    def answers(self) -> Locator:
        return self.page.locator("article.answer")

    @property
    def stop(self) -> Locator:
        return self.page.locator("#composer").get_by_role("button", name="Stop", exact=True)

    def expect_answer(self, text: str, *, index: int = 0) -> None:
        """Wait until the complete answer is `text`."""
        answer = self.answers.nth(index)
        expect(answer).to_have_attribute("aria-busy", "false")
        expect(answer.locator(".body")).to_have_text(text)

    def expect_echo(self, text: str, *, index: int = 0) -> None:
        """Wait for the complete answer of an upstream without a script, which repeats its input."""
        answer = self.answers.nth(index)
        expect(answer).to_have_attribute("aria-busy", "false")
        expect(answer.locator(".body")).to_contain_text(f"You said: {text}")

    def expect_partial_answer(self, text: str, *, index: int = 0) -> None:
        """Wait until the answer shows `text` and is still being written."""
        answer = self.answers.nth(index)
        expect(answer.locator(".body")).to_have_text(text)
        expect(answer).to_have_attribute("aria-busy", "true")

    # What the page must never do

    def _note_foreign_request(self, request: Request) -> None:
        # Data and blobs have no host.
        if request.url.startswith("http") and not request.url.startswith(f"{self.base_url}/"):
            self.foreign_requests.append(request.url)

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        # A restarting server causes these; they are not errors of the page.
        if message.type == "error" and not re.search(
            r"WebSocket connection|Failed to load resource", message.text
        ):
            self.errors.append(message.text)
