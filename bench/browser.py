"""What streaming costs the page: one tab, 200 tokens/s of rich Markdown for a minute, in a real Chromium.

`.venv/bin/python -m bench.browser [--seconds 60] [--rate 200]`. Prints the longest block of the main thread and the heap
after collections while the answer grows; fails (exit 1) when the thread was blocked for 50 ms or more. The rest of the
machine should be quiet: a browser that waits for a processor looks like a page that is busy.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from playwright.async_api import Browser, CDPSession, Page, async_playwright

from bench.processes import free_port, uvicorn
from bench.stack import Stack

GOAL_MS = 50
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
SAMPLES = 6
PASSWORD = (
    "from django.contrib.auth.hashers import make_password; from django.contrib.auth.models import User; "
    "User.objects.filter(username='alice').update(password=make_password('alice'))"
)
# Entries of the browser itself: tasks of 50 ms and more; frames by the time between two.
WATCH = """
(() => {
  window.blocked = [];
  window.gaps = [];
  window.watch = () => {
    new PerformanceObserver((list) => blocked.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: "longtask" });
    let last = performance.now();
    const frame = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
  };
})();
"""


@dataclass
class Figures:
    """heap_kb, nodes: after a collection, at even distances from the first tokens to the end, and in an empty chat."""

    long_tasks_ms: list[float] = field(default_factory=list)
    frame_gaps_ms: list[float] = field(default_factory=list)
    heap_kb: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    busy_share: float = 0.0
    characters: int = 0

    @property
    def longest_ms(self) -> float:
        return max(self.long_tasks_ms, default=0.0)

    def lines(self) -> list[str]:
        gaps = sorted(self.frame_gaps_ms)
        median, most = gaps[len(gaps) // 2], gaps[len(gaps) * 99 // 100]
        return [
            f"main thread: {len(self.long_tasks_ms)} tasks of 50 ms and more, longest {self.longest_ms:.0f} ms (goal: none)",
            f"frames:      median {median:.1f} ms, 99 % within {most:.1f} ms, longest {gaps[-1]:.1f} ms",
            f"busy:        {self.busy_share:.0%} of the time",
            f"heap:        {', '.join(str(kb) for kb in self.heap_kb)} KB (the last in an empty chat)",
            f"nodes:       {', '.join(str(count) for count in self.nodes)}, {self.characters:,} characters shown",
        ]


class Instance(Stack):
    """With DEBUG, so that the page is served as it is and over plain HTTP; alice has a password."""

    def _environment(self, database_url: str, redis_url: str) -> dict[str, str]:
        self.environment = {**super()._environment(database_url, redis_url), "DEBUG": "1"}
        return self.environment

    async def start(self, http: aiohttp.ClientSession, model: str) -> tuple[str, str]:
        """The address, and alice's session with 1,000 messages."""
        port = free_port()
        self.processes.start("upstream", uvicorn("bench.rich:application", port))
        await self.processes.listening(port)
        self.upstream = f"http://127.0.0.1:{port}"
        system, trees = await self.start_system(http, [model])
        self._run(self.environment, "manage.py", "shell", "-c", PASSWORD)
        return f"http://{system.address}", trees["branch_1000"]["session"]


async def main(arguments: argparse.Namespace) -> int:
    instance = Instance(directory := new_directory())
    try:
        async with aiohttp.ClientSession(trust_env=False) as http:
            model = f"rich-{arguments.seconds * arguments.rate}x{arguments.rate}"
            base_url, long_session = await instance.start(http, model)
            streamed, scrolled = await watched(base_url, long_session, arguments.seconds)
    finally:
        instance.processes.stop()
        shutil.rmtree(directory, ignore_errors=True)
    sys.stdout.write("\n".join(["an answer is written", *streamed.lines(), ""]))
    sys.stdout.write(
        "\n".join(["1,000 messages are read from the end to the beginning", *scrolled.lines(), ""])
    )
    return int(streamed.longest_ms >= GOAL_MS)


def new_directory() -> Path:
    """Postgres runs as another user."""
    directory = Path(tempfile.mkdtemp(prefix="bench-browser-"))
    directory.chmod(0o755)
    return directory


async def watched(base_url: str, long_session: str, seconds: int) -> tuple[Figures, Figures]:
    path = next(filter(None, map(shutil.which, CHROMIUM)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--no-proxy-server"]
        )
        page = await opened(browser, base_url)
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("Performance.enable")
        streamed = await while_written(page, devtools, seconds)
        scrolled = await while_scrolled(page, devtools, f"{base_url}/#{long_session}")
        await browser.close()
    return streamed, scrolled


async def opened(browser: Browser, base_url: str) -> Page:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await page.add_init_script(WATCH)
    await page.goto(base_url)
    await page.get_by_label("Username").fill("alice")
    await page.get_by_label("Password", exact=True).fill("alice")
    await page.get_by_role("button", name="Log in").click()
    await page.locator("#composer-text:focus").wait_for()
    return page


async def while_written(page: Page, devtools: CDPSession, seconds: int) -> Figures:
    figures = Figures()
    await page.locator("#composer-text").fill("Write for a minute")
    await page.locator("#composer-text").press("Enter")
    body = page.locator("article.answer .body")
    await body.filter(has_text="Section 1").wait_for()
    await page.evaluate("watch()")
    before = await metrics(devtools)
    for _ in range(SAMPLES):
        await sample(figures, devtools)
        await asyncio.sleep(seconds / SAMPLES)
    await page.locator("article.answer[aria-busy=false]").wait_for(timeout=120_000)
    await finish(figures, page, devtools, before)
    figures.characters = len(await body.inner_text())
    await page.evaluate("location.hash = ''")
    await asyncio.sleep(1)
    await sample(figures, devtools)
    return figures


async def while_scrolled(page: Page, devtools: CDPSession, url: str) -> Figures:
    figures = Figures()
    await page.evaluate("blocked.length = gaps.length = 0")
    before = await metrics(devtools)
    await page.goto(url)
    await page.locator("article.answer").first.wait_for()
    await sample(figures, devtools)
    await page.locator("#scroller").hover()
    while await page.locator(".older").count():
        await page.mouse.wheel(0, -3_000)
        await asyncio.sleep(0.05)
    await finish(figures, page, devtools, before)
    figures.characters = len(await page.locator("#conversation").text_content() or "")
    return figures


async def finish(figures: Figures, page: Page, devtools: CDPSession, before: dict[str, float]) -> None:
    figures.long_tasks_ms = await page.evaluate("blocked")
    figures.frame_gaps_ms = await page.evaluate("gaps")
    after = await metrics(devtools)
    passed_s = after["Timestamp"] - before["Timestamp"]
    figures.busy_share = (after["TaskDuration"] - before["TaskDuration"]) / passed_s
    await sample(figures, devtools)


async def sample(figures: Figures, devtools: CDPSession) -> None:
    await devtools.send("HeapProfiler.collectGarbage")
    now = await metrics(devtools)
    figures.heap_kb.append(int(now["JSHeapUsedSize"] // 1024))
    figures.nodes.append(int(now["Nodes"]))


async def metrics(devtools: CDPSession) -> dict[str, float]:
    found: dict[str, Any] = await devtools.send("Performance.getMetrics")
    return {each["name"]: each["value"] for each in found["metrics"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=200, help="tokens a second")
    sys.exit(asyncio.run(main(parser.parse_args())))
