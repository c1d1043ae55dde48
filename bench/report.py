"""Medians, ratios to the controls, and the table with the goals. Pure."""

# ruff: noqa: RUF001  the table prints these signs

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

# benchmark -> subject -> one dict of figures per run
Results = Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]]
Medians = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class TableRow:
    """One line of the table: a figure of a benchmark and its goal."""

    label: str
    benchmark: str
    figure: str
    goal: str = ""
    # (system, naive, lean) -> whether the goal is met; a control that was not measured is 0.
    is_met: Callable[[float, float, float], bool] | None = None


def at_most(limit: float) -> Callable[[float, float, float], bool]:
    return lambda system, _naive, _lean: system <= limit


ROWS = (
    TableRow(
        "relay, 100 runs: CPU ms per 1,000 tokens", "relay_100", "cpu", "≤ 0.5 × naive, ≤ 1.2 × lean",
        lambda system, naive, lean: system <= 0.5 * naive and system <= 1.2 * lean,
    ),
    TableRow("– workers", "relay_100", "cpu_worker"),
    TableRow("– web", "relay_100", "cpu_web"),
    TableRow("– Redis", "relay_100", "cpu_redis"),
    TableRow("– Postgres (not counted)", "relay_100", "cpu_postgres"),
    TableRow("– sweeper (not counted)", "relay_100", "cpu_sweeper"),
    TableRow("– token delay p50, ms", "relay_100", "delay_p50"),
    TableRow("– token delay p99, ms", "relay_100", "delay_p99", "≤ 80", at_most(80)),
    TableRow("only the stream, 100 runs: CPU ms per 1,000 tokens", "stream_100", "cpu"),
    TableRow("– workers", "stream_100", "cpu_worker"),
    TableRow("– web", "stream_100", "cpu_web"),
    TableRow("– Redis", "stream_100", "cpu_redis"),
    TableRow("– token delay p50, ms", "stream_100", "delay_p50"),
    TableRow("– token delay p99, ms", "stream_100", "delay_p99"),
    TableRow("relay, 5 runs: CPU ms per 1,000 tokens", "relay_5", "cpu"),
    TableRow("– token delay p99, ms", "relay_5", "delay_p99", "≤ 10", at_most(10)),
    TableRow(
        "throughput, 20 runs: tokens/s", "throughput", "tokens_per_s", "≥ 3 × naive",
        lambda system, naive, _lean: system >= 3 * naive,
    ),
    TableRow("added time to first token, 1 run: p50 ms", "first_token_1", "p50", "≤ 25", at_most(25)),
    TableRow("– p99, ms", "first_token_1", "p99", "≤ 100", at_most(100)),
    TableRow("– counted from send, p50 ms", "first_token_1", "from_send_p50"),
    TableRow("added time to first token, 100 runs: p50 ms", "first_token_100", "p50", "≤ 25", at_most(25)),
    TableRow("– p99, ms", "first_token_100", "p99", "≤ 100", at_most(100)),
    TableRow("– counted from send, p50 ms", "first_token_100", "from_send_p50"),
    TableRow("stop to upstream's disconnect, 40 runs: p50 ms", "stop", "p50"),
    TableRow("– p99, ms", "stop", "p99", "≤ 50", at_most(50)),
    TableRow("long history, accepted to upstream request: tree of 10, ms", "long_history", "tree_10"),
    TableRow("– tree of 1,000, ms", "long_history", "tree_1000"),
    TableRow("– tree of 10,000, ms", "long_history", "tree_10000"),
    TableRow("– branch of 1,000, ms", "long_history", "branch_1000", "≤ 60", at_most(60)),
    TableRow("– counted from send: tree of 10, ms", "long_history", "tree_10_from_send"),
    TableRow("– – tree of 10,000, ms", "long_history", "tree_10000_from_send"),
    TableRow("– – branch of 1,000, ms", "long_history", "branch_1000_from_send"),
    TableRow("– – tree of 10,000 ÷ tree of 10", "long_history", "ratio_10000", "≤ 2", at_most(2)),
    TableRow("100 mixed files of 1 MB: files/s", "ingest_100", "files_per_s"),
    TableRow("– CPU ms per file", "ingest_100", "cpu_ms_per_file"),
    TableRow("– memory of the ingest processes idle, MB", "ingest_100", "memory_idle_mb"),
    TableRow("– at most, MB", "ingest_100", "memory_peak_mb"),
    TableRow("added time to first token from send while files are read: p50 ms", "first_token_ingest", "from_send_p50"),
    TableRow("– p99, ms", "first_token_ingest", "from_send_p99"),
    TableRow("– without files, p50 ms", "first_token_ingest", "alone_from_send_p50"),
    TableRow("– – p99, ms", "first_token_ingest", "alone_from_send_p99"),
    TableRow("– with ÷ without, p50", "first_token_ingest", "ratio", "≤ 1.5", at_most(1.5)),
)  # fmt: skip


def compute_medians(results: Results) -> Medians:
    """Return the median of each figure over the runs that have it, by benchmark and subject."""
    return {
        benchmark: {subject: _compute_medians(runs) for subject, runs in subjects.items() if runs}
        for benchmark, subjects in results.items()
    }


def _compute_medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = {name for run in runs for name in run}
    return {name: median([run[name] for run in runs if name in run]) for name in sorted(names)}


def format_table(medians: Medians) -> str:
    lines = [
        "| | system | naive | lean | ÷ naive | ÷ lean | goal | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [line for row in ROWS if (line := _format_row(row, medians.get(row.benchmark, {})))]
    return "\n".join(lines)


def _format_row(row: TableRow, subjects: Mapping[str, Mapping[str, float]]) -> str:
    system, naive, lean = (
        subjects.get(name, {}).get(row.figure, 0.0) for name in ("system", "naive", "lean")
    )
    if not (system or naive or lean):
        return ""
    verdict = (
        "" if row.is_met is None or not system else "yes" if row.is_met(system, naive, lean) else "**no**"
    )
    cells = [
        row.label,
        _format_number(system),
        _format_number(naive),
        _format_number(lean),
        _format_ratio(system, naive),
        _format_ratio(system, lean),
    ]
    return f"| {' | '.join([*cells, row.goal, verdict])} |"


def _format_number(value: float) -> str:
    if not value:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _format_ratio(system: float, control: float) -> str:
    return f"{system / control:.2f}" if system and control else ""
