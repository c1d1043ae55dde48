"""Measurements of the first load of the page in Chromium, as a phone and as a computer.
They are bytes, requests, layout shifts, paints, blocked time and time to interactive.

`.venv/bin/python -m bench.first_load URL` measures a running instance (`make run`), with a fresh browser that is logged
in as demo. The processor is slowed down by 4, the network is "Fast 3G" (1.6 Mbit/s, 150 ms).
"""

import argparse
import statistics
import sys
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.launching import launch_chromium

SLOWER = 4
FAST_3G = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8 * 0.9,
    "uploadThroughput": 750_000 / 8 * 0.9,
}
DEVICES: dict[str, dict[str, Any]] = {
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 3,
        "is_mobile": True,
        "has_touch": True,
    },
    "computer": {"viewport": {"width": 1280, "height": 900}},
}
# Shifts are summed without session windows: the sum is never smaller than CLS.
OBSERVER = """
window.shifts = []; window.tasks = [];
const nameOf = (node) => node && (node.id || node.className || node.parentElement?.id || node.nodeName);
new PerformanceObserver((list) => { for (const each of list.getEntries()) if (!each.hadRecentInput)
  shifts.push([each.value, each.sources.map(({ node }) => String(nameOf(node))).join(" ")]);
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => { for (const each of list.getEntries()) tasks.push([each.startTime, each.duration]); })
  .observe({ type: "longtask", buffered: true });
window.paints = {};
for (const type of ["paint", "largest-contentful-paint"])
  new PerformanceObserver((list) => { for (const each of list.getEntries()) paints[each.name || type] = each.startTime; })
    .observe({ type, buffered: true });
"""
# A task blocks for the time by which it exceeds this.
SHORT_TASK_MS = 50


class FirstLoad(NamedTuple):
    requests: int
    compressed_kb: float
    shifts: float
    # The time from which the composer has the focus and no task of 50 ms or more runs.
    interactive_s: float
    longest_task_ms: float
    # First and largest contentful paint.
    first_paint_s: float
    largest_paint_s: float
    # Blocked time between the first paint and the time to interactive.
    blocked_ms: float
    shifted: list[tuple[float, str]]


def main(arguments: argparse.Namespace) -> int:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for device in DEVICES:
            loads = [first_load(browser, arguments, device) for _ in range(arguments.times)]
            sys.stdout.write(f"{device}: {report(loads)}\n")
            for value, nodes in loads[0].shifted:
                sys.stdout.write(f"  shift {value:.3f}: {nodes}\n")
        browser.close()
    return 0


def report(loads: list[FirstLoad]) -> str:
    first, largest, blocked, seconds = (
        statistics.median(values)
        for values in zip(
            *(
                (each.first_paint_s, each.largest_paint_s, each.blocked_ms, each.interactive_s)
                for each in loads
            ),
            strict=True,
        )
    )
    return (
        f"{loads[0].requests} requests, {loads[0].compressed_kb:.0f} KB, CLS {max(each.shifts for each in loads):.3f}, "
        f"first paint after {first:.1f} s, largest after {largest:.1f} s, interactive after {seconds:.1f} s, "
        f"blocked for {blocked:.0f} ms (medians of {len(loads)}), "
        f"longest task {max(each.longest_task_ms for each in loads):.0f} ms"
    )


def first_load(browser: Browser, arguments: argparse.Namespace, device: str) -> FirstLoad:
    """Load the page once and return its figures. The browser has the cookie of the login, and an empty cache."""
    context = browser.new_context(**DEVICES[device])
    log_in(context.request, arguments.url, arguments.user)
    page = context.new_page()
    page.add_init_script(OBSERVER)
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    sizes: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    devtools.send("Network.emulateNetworkConditions", FAST_3G)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(arguments.url, timeout=120_000)
    page.wait_for_function("document.activeElement?.id === 'composer-text'", timeout=120_000)
    ready_ms = page.evaluate("performance.now()")
    page.wait_for_load_state("networkidle", timeout=120_000)
    page.wait_for_timeout(2_000)
    found = measured(page, ready_ms, sizes)
    context.close()
    return found


def measured(page: Page, ready_ms: float, sizes: list[float]) -> FirstLoad:
    shifts: list[tuple[float, str]] = page.evaluate("shifts")
    tasks: list[tuple[float, float]] = page.evaluate("tasks")
    paints: dict[str, float] = page.evaluate("paints")
    first_ms = paints["first-contentful-paint"]
    interactive_ms = max([ready_ms, *(start + took for start, took in tasks)])
    return FirstLoad(
        requests=len(sizes),
        compressed_kb=sum(sizes) / 1024,
        shifts=sum(value for value, _nodes in shifts),
        interactive_s=interactive_ms / 1000,
        first_paint_s=first_ms / 1000,
        largest_paint_s=paints["largest-contentful-paint"] / 1000,
        blocked_ms=sum(
            took - SHORT_TASK_MS for start, took in tasks if took > SHORT_TASK_MS and start >= first_ms
        ),
        longest_task_ms=max((took for _start, took in tasks), default=0),
        shifted=shifts,
    )


def log_in(ask: Any, url: str, user: str) -> None:
    form = f"{url}/login/"
    token = ask.get(form).text().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    fields = {"username": user, "password": user, "csrfmiddlewaretoken": token}
    ask.post(form, form=fields, headers={"Referer": form})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("--user", default="demo", help="whose name is also the password")
    parser.add_argument("--times", type=int, default=3)
    sys.exit(main(parser.parse_args()))
