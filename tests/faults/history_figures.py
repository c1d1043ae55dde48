"""The figures of a history: how often, and how long. Pure; never a verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tests.faults.history_data import History, Violation
from tests.faults.history_rules import calls_by_question
from tests.faults.history_views import Replay


def figures(history: History, replays: Sequence[Replay], violations: Iterable[Violation]) -> dict[str, Any]:
    """Counts as numbers, durations as lists of seconds."""
    frames = sum((Counter(seen.counts) for seen in replays), Counter())
    evidence = [violation.evidence for violation in violations if violation.invariant == "I5"]
    runs = history.database.runs
    return {
        "runs": dict(Counter(str(run["status"]) for run in runs)),
        "errors": dict(Counter(run["error_code"] for run in runs if run.get("error_code"))),
        "turns": len(history.database.turns),
        "attempts": sum(run["attempt"] for run in runs),
        "failures": sum(run["failures"] for run in runs),
        "sockets": sum(len(client.sockets) for client in history.clients),
        "packets": frames["packet"],
        "resets": frames["reset"],
        "snapshots": frames["snapshot"],
        "resyncs": frames["resync"],
        "silent gaps": sum("gap" in text or "missing" in text for text in evidence),
        "applied duplicates": sum("twice" in text for text in evidence),
        "texts nobody could verify": sum(
            view.text is None for seen in replays for view in seen.views.values()
        ),
        "upstream calls": len(history.upstream),
        "upstream calls of these runs": sum(len(calls) for _, calls in calls_by_question(history)),
        "takeover": takeovers_s(history, replays),
        "stop": stops_s(history, replays),
        "longest silence": [longest_silence_s(history)],
    }


def takeovers_s(history: History, replays: Iterable[Replay]) -> list[float]:
    """From the latest fault, or from the last frame of the older attempt, to the first frame of the newer one;
    one value per client and takeover."""
    return [
        takeover.at
        - max([fault for fault in history.faults if fault <= takeover.at], default=takeover.before)
        for seen in replays
        for takeover in seen.takeovers
    ]


def stops_s(history: History, replays: Iterable[Replay]) -> list[float]:
    """From asking for a stop to its packet; one value per client that saw it."""
    return [
        view.at - history.stops[run]
        for seen in replays
        for run, view in seen.views.items()
        if view.stop_reason and run in history.stops
    ]


def longest_silence_s(history: History) -> float:
    """The longest time, over all its connections, in which a client was shown nothing new of an answer that it followed.
    Silences that ended before the first fault are not counted."""
    counted_from = min(history.faults, default=0.0)
    longest = 0.0
    for client in history.clients:
        shown_at: dict[str, list[float]] = defaultdict(list)
        for socket in client.sockets:
            for at, frame in socket.frames:
                if frame["type"] in ("packet", "snapshot"):
                    shown_at[frame["run"]].append(at)
        for times in shown_at.values():
            silences = (later - earlier for earlier, later in pairwise(times) if later > counted_from)
            longest = max([longest, *silences])
    return longest
