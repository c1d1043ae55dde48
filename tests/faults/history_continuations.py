"""What a history must say of runs that a user let go on after their end: I2 and I6. Pure.

The events are the truth: without a recorded `run_continued`, every end is final.
"""

import re
from collections.abc import Iterator
from typing import Final

from tests.faults.history_data import History, Violation
from tests.faults.history_views import Replay, View

LETTERS: Final = {"turn_started": "s", "run_continued": "c", "overall_stop": "o"}
# A turn is stopped again only after a run of it went on; in a turn of several runs, one may go on before the turn ends.
RIGHT_ORDER: Final = re.compile("sc*o(c+o)*")


def turn_events_problem(history: History, turn: str) -> str | None:
    """Why the recorded events of this turn cannot be; None if they can."""
    events = sorted(history.database.events, key=lambda row: row["n"])
    kinds = [row["kind"] for row in events if row["payload"].get("turn") == turn and row["kind"] in LETTERS]
    if RIGHT_ORDER.fullmatch("".join(LETTERS[kind] for kind in kinds)):
        return None
    return f"its events are {', '.join(kinds) or 'none'}"


def is_continued(history: History, run: str, ended: int, until: int | None = None) -> bool:
    """Whether a user let the run go on after the attempt `ended`, at the latest in the attempt `until`."""
    attempts = [
        row["payload"]["attempt"]
        for row in history.database.events
        if row["kind"] == "run_continued" and row["payload"]["run"] == run
    ]
    return any(ended < attempt and (until is None or attempt <= until) for attempt in attempts)


def reopened_unasked(history: History, seen: Replay) -> Iterator[Violation]:
    """I6: after an end comes what a user asked for, or nothing."""
    for one in seen.reopenings:
        if not is_continued(history, one.run, one.ended, one.attempt):
            yield Violation(
                "I6",
                {"client": seen.client, "run": one.run},
                f"attempt {one.attempt} began after the stop of {one.ended}, and nobody asked for it",
            )


def beginning_kept(client: str, run: str, view: View, text: str) -> Iterator[Violation]:
    """I6: a client that left after the first end saw how the text begins that is stored now."""
    if view.text is not None and not text.startswith(view.text):
        yield Violation(
            "I6", {"client": client, "run": run}, f"{view.text[-40:]!r} was shown at the stop and is gone"
        )
