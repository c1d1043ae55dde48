"""`python -m bench`: the system and its two controls in one go, alternating; medians, ratios, and a table.

Writes bench/results/<time>.json; the table goes to standard output, progress to standard error.
"""

import argparse
import asyncio
import json
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

from bench import report, scenarios
from bench.stack import CONTROLS, Stack
from bench.subjects import Subject, System

RESULTS = Path(__file__).resolve().parent / "results"
BENCHMARKS = (
    "relay_100", "stream_100", "relay_5", "throughput", "first_token_1", "first_token_100", "stop", "long_history",
)  # fmt: skip
# A single measurement takes seconds; one that takes this long hangs.
LIMIT_S = 240.0
RUNS, QUICK_RUNS = 5, 1

Figures = dict[str, float]
Results = dict[str, dict[str, list[Figures]]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, help=f"alternating runs (default {RUNS})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} run: a look, not a result")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="these benchmarks")
    subjects = ("system", *CONTROLS)
    parser.add_argument("--subjects", nargs="+", choices=subjects, default=subjects, help="these subjects")
    parser.add_argument("--keep-logs", action="store_true", help="keep the processes' logs, and say where")
    return parser.parse_args()


def measures(
    stack: Stack, http: aiohttp.ClientSession, trees: Any
) -> dict[str, Callable[[Any], Awaitable[Figures]]]:
    upstream = scenarios.Upstream(http, stack.upstream)
    return {
        "relay_100": lambda subject: scenarios.relay(subject, 100),
        "stream_100": lambda subject: scenarios.stream(subject, 100),
        "relay_5": lambda subject: scenarios.relay(subject, 5),
        "throughput": scenarios.throughput,
        "first_token_1": lambda subject: scenarios.first_token(subject, upstream, 0),
        "first_token_100": lambda subject: scenarios.first_token(subject, upstream, 100),
        "stop": lambda subject: scenarios.stop(subject, upstream),
        "long_history": lambda subject: scenarios.long_history(subject, upstream, trees),
    }


async def measure(stack: Stack, chosen: argparse.Namespace) -> Results:
    results: Results = defaultdict(lambda: defaultdict(list))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await stack.start_upstream()
        subjects: list[Subject] = [
            await stack.start_control(http, name) for name in CONTROLS if name in chosen.subjects
        ]
        trees: dict[str, dict[str, str]] = {}
        if "system" in chosen.subjects:
            system, trees = await stack.start_system(http, scenarios.MODELS)
            subjects.insert(0, system)
        for subject in subjects:
            await scenarios.warm_up(subject)
        by_name = measures(stack, http, trees)
        for number in range(chosen.runs or (QUICK_RUNS if chosen.quick else RUNS)):
            for name in chosen.only:
                for subject in subjects:
                    if name != "long_history" or isinstance(subject, System):
                        say(f"run {number + 1}: {name}, {subject.name}")
                        async with asyncio.timeout(LIMIT_S):
                            results[name][subject.name].append(await by_name[name](subject))
                        stack.processes.check()
    return results


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def save(results: Results, middle: report.Medians) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps({"medians": middle, "runs": results}, indent=1) + "\n", encoding="utf-8")
    return path


def main(chosen: argparse.Namespace) -> None:
    directory = Path(tempfile.mkdtemp(prefix="turnwire-bench-"))
    # Postgres runs as a user of its own when we are root, and must reach its data.
    directory.chmod(0o755)
    stack = Stack(directory)
    try:
        results = uvloop.run(measure(stack, chosen))
    finally:
        stack.processes.stop()
        if chosen.keep_logs:
            say(f"logs: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    middle = report.medians(results)
    print(report.table(middle))
    say(f"figures: {save(results, middle)}")


def interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    main(arguments())
