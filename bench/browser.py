"""Measurements of the page in Chromium: one tab that streams 200 tokens/s of Markdown, then a chat of 1,000 messages.

`.venv/bin/python -m bench.browser [--seconds 60] [--rate 200]` prints long tasks, frame times and the heap after
garbage collections. It exits with 1 if the main thread was blocked for 50 ms or more while streaming. The machine
should be idle otherwise: a browser that waits for a processor looks like a busy page.
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

from bench.stack import BenchStack, free_port, uvicorn_command

LONG_TASK_GOAL_MS = 50
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
HEAP_SAMPLES = 6
SET_PASSWORD_CODE = (
    "from django.contrib.auth.hashers import make_password; from django.contrib.auth.models import User; "
    "User.objects.filter(username='alice').update(password=make_password('alice'))"
)
# Records long tasks of the browser (50 ms and more) and the time between animation frames, in milliseconds.
OBSERVER_SCRIPT = """
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
class PageFigures:
    """Figures of one scenario.
    heap_kb, nodes: after garbage collection, at regular intervals; the last values are those of an empty chat.
    """

    long_tasks_ms: list[float] = field(default_factory=list)
    frame_gaps_ms: list[float] = field(default_factory=list)
    heap_kb: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    busy_share: float = 0.0
    characters: int = 0

    @property
    def longest_ms(self) -> float:
        return max(self.long_tasks_ms, default=0.0)

    def report_lines(self) -> list[str]:
        gaps = sorted(self.frame_gaps_ms)
        median, p99 = gaps[len(gaps) // 2], gaps[len(gaps) * 99 // 100]
        return [
            f"main thread: {len(self.long_tasks_ms)} tasks of 50 ms and more, longest {self.longest_ms:.0f} ms (goal: none)",
            f"frames:      median {median:.1f} ms, 99 % within {p99:.1f} ms, longest {gaps[-1]:.1f} ms",
            f"busy:        {self.busy_share:.0%} of the time",
            f"heap:        {', '.join(str(kb) for kb in self.heap_kb)} KB (the last in an empty chat)",
            f"nodes:       {', '.join(str(count) for count in self.nodes)}, {self.characters:,} characters shown",
        ]


class BrowserStack(BenchStack):
    """The benchmark's processes with DEBUG, which serves the page unbundled over plain HTTP; alice has a password."""

    def _environment(self, database_url: str, redis_url: str) -> dict[str, str]:
        self.environment = {**super()._environment(database_url, redis_url), "DEBUG": "1"}
        return self.environment

    async def start(self, http: aiohttp.ClientSession, model: str) -> tuple[str, str]:
        """Start upstream and system. Return the base URL and the id of alice's session with 1,000 messages."""
        port = free_port()
        self.processes.start("upstream", uvicorn_command("bench.rich:application", port))
        await self.processes.wait_until_listening(port)
        self.upstream = f"http://127.0.0.1:{port}"
        system, trees = await self.start_system(http, [model])
        self._run(self.environment, "manage.py", "shell", "-c", SET_PASSWORD_CODE)
        return f"http://{system.address}", trees["branch_1000"]["session"]


async def main(arguments: argparse.Namespace) -> int:
    instance = BrowserStack(directory := create_directory())
    try:
        async with aiohttp.ClientSession(trust_env=False) as http:
            model = f"rich-{arguments.seconds * arguments.rate}x{arguments.rate}"
            base_url, long_session = await instance.start(http, model)
            streamed, scrolled = await measure_page(base_url, long_session, arguments.seconds)
    finally:
        instance.processes.stop()
        shutil.rmtree(directory, ignore_errors=True)
    sys.stdout.write("\n".join(["While an answer is streamed:", *streamed.report_lines(), ""]))
    sys.stdout.write(
        "\n".join(
            ["While 1,000 messages are scrolled from the end to the beginning:", *scrolled.report_lines(), ""]
        )
    )
    return int(streamed.longest_ms >= LONG_TASK_GOAL_MS)


def create_directory() -> Path:
    """Create a directory that the user of Postgres can enter."""
    directory = Path(tempfile.mkdtemp(prefix="bench-browser-"))
    directory.chmod(0o755)
    return directory


async def measure_page(base_url: str, long_session: str, seconds: int) -> tuple[PageFigures, PageFigures]:
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise RuntimeError(f"No browser found; looked for {', '.join(CHROMIUM)}.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--no-proxy-server"]
        )
        page = await log_in(browser, base_url)
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("Performance.enable")
        streamed = await measure_streaming(page, devtools, seconds)
        scrolled = await measure_scrolling(page, devtools, f"{base_url}/#{long_session}")
        await browser.close()
    return streamed, scrolled


async def log_in(browser: Browser, base_url: str) -> Page:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await page.add_init_script(OBSERVER_SCRIPT)
    await page.goto(base_url)
    await page.get_by_label("Username").fill("alice")
    await page.get_by_label("Password", exact=True).fill("alice")
    await page.get_by_role("button", name="Log in").click()
    await page.locator("#composer-text:focus").wait_for()
    return page


async def measure_streaming(page: Page, devtools: CDPSession, seconds: int) -> PageFigures:
    figures = PageFigures()
    await page.locator("#composer-text").fill("Write for a minute")
    await page.locator("#composer-text").press("Enter")
    body = page.locator("article.answer .body")
    await body.filter(has_text="Section 1").wait_for()
    await page.evaluate("watch()")
    before = await read_metrics(devtools)
    for _ in range(HEAP_SAMPLES):
        await record_heap(figures, devtools)
        await asyncio.sleep(seconds / HEAP_SAMPLES)
    await page.locator("article.answer[aria-busy=false]").wait_for(timeout=120_000)
    await record_totals(figures, page, devtools, before)
    figures.characters = len(await body.inner_text())
    await page.evaluate("location.hash = ''")
    await asyncio.sleep(1)
    await record_heap(figures, devtools)
    return figures


async def measure_scrolling(page: Page, devtools: CDPSession, url: str) -> PageFigures:
    figures = PageFigures()
    await page.evaluate("blocked.length = gaps.length = 0")
    before = await read_metrics(devtools)
    await page.goto(url)
    await page.locator("article.answer").first.wait_for()
    await record_heap(figures, devtools)
    await page.locator("#scroller").hover()
    while await page.locator(".older").count():
        await page.mouse.wheel(0, -3_000)
        await asyncio.sleep(0.05)
    await record_totals(figures, page, devtools, before)
    figures.characters = len(await page.locator("#conversation").text_content() or "")
    return figures


async def record_totals(
    figures: PageFigures, page: Page, devtools: CDPSession, before: dict[str, float]
) -> None:
    figures.long_tasks_ms = await page.evaluate("blocked")
    figures.frame_gaps_ms = await page.evaluate("gaps")
    after = await read_metrics(devtools)
    passed_s = after["Timestamp"] - before["Timestamp"]
    figures.busy_share = (after["TaskDuration"] - before["TaskDuration"]) / passed_s
    await record_heap(figures, devtools)


async def record_heap(figures: PageFigures, devtools: CDPSession) -> None:
    await devtools.send("HeapProfiler.collectGarbage")
    now = await read_metrics(devtools)
    figures.heap_kb.append(int(now["JSHeapUsedSize"] // 1024))
    figures.nodes.append(int(now["Nodes"]))


async def read_metrics(devtools: CDPSession) -> dict[str, float]:
    reply: dict[str, Any] = await devtools.send("Performance.getMetrics")
    return {each["name"]: each["value"] for each in reply["metrics"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=200, help="tokens a second")
    sys.exit(asyncio.run(main(parser.parse_args())))
