"""A run's history, by step and by attempt, built from its row and the admin's log. No queries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.models import Run
from chat.protocol.states import TERMINAL, Status
from web.admin.translations import translate_logged

# Texts of the reasons stored by the transitions of runs (chat/models/run.py); error codes are shown as they are.
REASONS: Final = {
    "lease_expired": gettext_lazy("the lease of the worker before had run out"),
    "owner_dead": gettext_lazy("taken from a dead worker"),
    "continued": gettext_lazy("the user let it go on"),
    "handed_over": gettext_lazy("its worker was told to end"),
    "asked_for": gettext_lazy("re-queued by staff: its worker's lease had run out"),
}


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One transition or event of the run. after_s: seconds since the run was created."""

    at: datetime
    after_s: float
    what: str
    attempt: int | None = None
    owner: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class AttemptSummary:
    """One attempt of a worker. until: None while it runs. outcome: the status, or "lost", with which it ended."""

    number: int
    owner: int | None
    since: datetime
    until: datetime | None = None
    outcome: str = ""
    why: str = ""

    @property
    def took_s(self) -> float | None:
        return round((self.until - self.since).total_seconds(), 3) if self.until else None


def build_history(run: Run, done_by_staff: Iterable[tuple[datetime, str, str]] = ()) -> list[HistoryStep]:
    """Return the steps, oldest first. done_by_staff: time, username and change message of log entries."""
    created: datetime = run.created_at

    def step(at: datetime, what: str, **details: Any) -> HistoryStep:
        return HistoryStep(at, round((at - created).total_seconds(), 3), what, **details)

    steps = [step(created, "made")]
    steps += [step(_parse_time(entry), entry["to"], **_details(entry)) for entry in run.history]
    if run.announced_at:
        steps.append(step(run.announced_at, "announced", why=_("its last packet is in the log")))
    steps += [
        step(at, translate_logged(what), why=_("by %(who)s") % {"who": who})
        for at, who, what in done_by_staff
    ]
    return sorted(steps, key=lambda one: one.at)


def list_attempts(run: Run) -> list[AttemptSummary]:
    """Return the attempts of workers, oldest first."""
    attempts: list[AttemptSummary] = []
    for entry in run.history:
        at, to, details = _parse_time(entry), entry["to"], _details(entry)
        if attempts and attempts[-1].until is None and to != Status.STOPPING:
            outcome = "lost" if to == Status.RUNNING else to
            attempts[-1] = replace(attempts[-1], until=at, outcome=outcome, why=details["why"])
        if to == Status.RUNNING:
            attempts.append(AttemptSummary(details["attempt"], details["owner"], at))
    return attempts


def iterate_states(run: Run, now: datetime) -> Iterator[tuple[str, datetime, datetime]]:
    """Yield (status, from, until) of consecutive states, up to the run's end or now."""
    since, status = run.created_at, Status.QUEUED.value
    for entry in run.history:
        at = _parse_time(entry)
        yield status, since, at
        since, status = at, entry["to"]
    if status not in TERMINAL:
        yield status, since, now


def _parse_time(entry: dict[str, Any]) -> datetime:
    at = parse_datetime(entry["at"])
    if at is None:
        raise ValueError(f"not a time: {entry['at']!r}")
    return at


def _details(entry: dict[str, Any]) -> dict[str, Any]:
    why = entry.get("why", "")
    return {"attempt": entry.get("attempt"), "owner": entry.get("owner"), "why": str(REASONS.get(why, why))}
