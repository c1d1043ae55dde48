"""Medians over the runs, ratios to the controls, and the table with the goals. Pure."""

# ruff: noqa: RUF001  the signs are what the table prints

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

# benchmark -> subject -> one dict of figures per run
Results = Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]]
Medians = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure, and what is wanted of it."""

    label: str
    benchmark: str
    figure: str
    goal: str = ""
    # (system, naive, lean) -> whether the goal is met; a control that was not measured is 0.
    met: Callable[[float, float, float], bool] | None = None


def under(limit: float) -> Callable[[float, float, float], bool]:
    return lambda system, _naive, _lean: system <= limit


ROWS = (
    Row(
        "relay, 100 runs: CPU ms per 1,000 tokens", "relay_100", "cpu", "≤ 0.5 × naive, ≤ 1.2 × lean",
        lambda system, naive, lean: system <= 0.5 * naive and system <= 1.2 * lean,
    ),
    Row("– workers", "relay_100", "cpu_worker"),
    Row("– web", "relay_100", "cpu_web"),
    Row("– Redis", "relay_100", "cpu_redis"),
    Row("– Postgres (not counted)", "relay_100", "cpu_postgres"),
    Row("– sweeper (not counted)", "relay_100", "cpu_sweeper"),
    Row("– token delay p50, ms", "relay_100", "delay_p50"),
    Row("– token delay p99, ms", "relay_100", "delay_p99", "≤ 80", under(80)),
    Row("only the stream, 100 runs: CPU ms per 1,000 tokens", "stream_100", "cpu"),
    Row("– workers", "stream_100", "cpu_worker"),
    Row("– web", "stream_100", "cpu_web"),
    Row("– Redis", "stream_100", "cpu_redis"),
    Row("– token delay p50, ms", "stream_100", "delay_p50"),
    Row("– token delay p99, ms", "stream_100", "delay_p99"),
    Row("relay, 5 runs: CPU ms per 1,000 tokens", "relay_5", "cpu"),
    Row("– token delay p99, ms", "relay_5", "delay_p99", "≤ 10", under(10)),
    Row(
        "throughput, 20 runs: tokens/s", "throughput", "tokens_per_s", "≥ 3 × naive",
        lambda system, naive, _lean: system >= 3 * naive,
    ),
    Row("added time to first token, 1 run: p50 ms", "first_token_1", "p50", "≤ 25", under(25)),
    Row("– p99, ms", "first_token_1", "p99", "≤ 100", under(100)),
    Row("– counted from send, p50 ms", "first_token_1", "from_send_p50"),
    Row("added time to first token, 100 runs: p50 ms", "first_token_100", "p50", "≤ 25", under(25)),
    Row("– p99, ms", "first_token_100", "p99", "≤ 100", under(100)),
    Row("– counted from send, p50 ms", "first_token_100", "from_send_p50"),
    Row("stop to upstream's disconnect, 40 runs: p50 ms", "stop", "p50"),
    Row("– p99, ms", "stop", "p99", "≤ 50", under(50)),
    Row("long history, accepted to upstream request: tree of 10, ms", "long_history", "tree_10"),
    Row("– tree of 1,000, ms", "long_history", "tree_1000"),
    Row("– tree of 10,000, ms", "long_history", "tree_10000"),
    Row("– branch of 1,000, ms", "long_history", "branch_1000", "≤ 60", under(60)),
    Row("– counted from send: tree of 10, ms", "long_history", "tree_10_from_send"),
    Row("– – tree of 10,000, ms", "long_history", "tree_10000_from_send"),
    Row("– – branch of 1,000, ms", "long_history", "branch_1000_from_send"),
    Row("– – tree of 10,000 ÷ tree of 10", "long_history", "ratio_10000", "≤ 2", under(2)),
)  # fmt: skip


def medians(results: Results) -> Medians:
    """Of each figure over the runs that have it."""
    return {
        benchmark: {subject: _medians(runs) for subject, runs in subjects.items() if runs}
        for benchmark, subjects in results.items()
    }


def _medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = {name for run in runs for name in run}
    return {name: median([run[name] for run in runs if name in run]) for name in sorted(names)}


def table(middle: Medians) -> str:
    lines = [
        "| | system | naive | lean | ÷ naive | ÷ lean | goal | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [line for row in ROWS if (line := _line(row, middle.get(row.benchmark, {})))]
    return "\n".join(lines)


def _line(row: Row, subjects: Mapping[str, Mapping[str, float]]) -> str:
    system, naive, lean = (
        subjects.get(name, {}).get(row.figure, 0.0) for name in ("system", "naive", "lean")
    )
    if not (system or naive or lean):
        return ""
    verdict = "" if row.met is None or not system else "yes" if row.met(system, naive, lean) else "**no**"
    cells = [
        row.label,
        _number(system),
        _number(naive),
        _number(lean),
        _ratio(system, naive),
        _ratio(system, lean),
    ]
    return f"| {' | '.join([*cells, row.goal, verdict])} |"


def _number(value: float) -> str:
    if not value:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _ratio(system: float, control: float) -> str:
    return f"{system / control:.2f}" if system and control else ""
