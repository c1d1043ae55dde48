"""Command line of the benchmarks: `python -m bench` measures the system and its two controls in turn.

It writes all figures to bench/results/<time>.json, a table of medians and ratios to standard output, and progress to
standard error.
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

from bench import ingestion, report, scenarios
from bench.load import Subject, System
from bench.stack import CONTROLS, BenchStack

RESULTS = Path(__file__).resolve().parent / "results"
BENCHMARKS = (
    "relay_100",
    "stream_100",
    "relay_5",
    "throughput",
    "first_token_1",
    "first_token_100",
    "stop",
    "long_history",
    "ingest_100",
    "first_token_ingest",
)
# Benchmarks that the controls cannot run.
SYSTEM_ONLY = ("long_history", "ingest_100", "first_token_ingest")  # fmt: skip
# A single measurement takes seconds; one that takes this long has hung.
MEASUREMENT_TIMEOUT_S = 240.0
RUNS, QUICK_RUNS = 5, 1

Figures = dict[str, float]
Results = dict[str, dict[str, list[Figures]]]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, help=f"alternating runs (default {RUNS})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} run, for a first impression")
    parser.add_argument(
        "--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="run only these benchmarks"
    )
    subjects = ("system", *CONTROLS)
    parser.add_argument(
        "--subjects", nargs="+", choices=subjects, default=subjects, help="measure only these subjects"
    )
    parser.add_argument(
        "--keep-logs", action="store_true", help="keep the logs of the processes and print their folder"
    )
    return parser.parse_args()


def measurements(
    stack: BenchStack, http: aiohttp.ClientSession, trees: Any
) -> dict[str, Callable[[Any], Awaitable[Figures]]]:
    upstream = scenarios.UpstreamLog(http, stack.upstream)
    return {
        "relay_100": lambda subject: scenarios.measure_relay(subject, 100),
        "stream_100": lambda subject: scenarios.measure_stream(subject, 100),
        "relay_5": lambda subject: scenarios.measure_relay(subject, 5),
        "throughput": scenarios.measure_throughput,
        "first_token_1": lambda subject: scenarios.measure_first_token(subject, upstream, 0),
        "first_token_100": lambda subject: scenarios.measure_first_token(subject, upstream, 100),
        "stop": lambda subject: scenarios.measure_stop(subject, upstream),
        "long_history": lambda subject: scenarios.measure_long_history(subject, upstream, trees),
        "ingest_100": ingestion.measure_ingest,
        "first_token_ingest": lambda subject: ingestion.measure_first_token_beside(subject, upstream),
    }


async def measure(stack: BenchStack, options: argparse.Namespace) -> Results:
    results: Results = defaultdict(lambda: defaultdict(list))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await stack.start_upstream()
        subjects: list[Subject] = [
            await stack.start_control(http, name) for name in CONTROLS if name in options.subjects
        ]
        trees: dict[str, dict[str, str]] = {}
        if "system" in options.subjects:
            system, trees = await stack.start_system(http, scenarios.MODELS)
            subjects.insert(0, system)
        for subject in subjects:
            await scenarios.warm_up(subject)
        by_name = measurements(stack, http, trees)
        for number in range(options.runs or (QUICK_RUNS if options.quick else RUNS)):
            for name in options.only:
                for subject in subjects:
                    if name not in SYSTEM_ONLY or isinstance(subject, System):
                        log_progress(f"run {number + 1}: {name}, {subject.name}")
                        async with asyncio.timeout(MEASUREMENT_TIMEOUT_S):
                            results[name][subject.name].append(await by_name[name](subject))
                        stack.processes.check_running()
    return results


def log_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def save_results(results: Results, median_figures: report.Medians) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(
        json.dumps({"medians": median_figures, "runs": results}, indent=1) + "\n", encoding="utf-8"
    )
    return path


def main(options: argparse.Namespace) -> None:
    directory = Path(tempfile.mkdtemp(prefix="turnwire-bench-"))
    # If root starts the benchmark, Postgres runs as another user, which must be able to reach its data.
    directory.chmod(0o755)
    stack = BenchStack(directory)
    try:
        results = uvloop.run(measure(stack, options))
    finally:
        stack.processes.stop()
        if options.keep_logs:
            log_progress(f"logs: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    median_figures = report.compute_medians(results)
    print(report.format_table(median_figures))
    log_progress(f"figures: {save_results(results, median_figures)}")


def raise_keyboard_interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, raise_keyboard_interrupt)
    main(parse_arguments())
