"""What a run has been through, step by step and attempt by attempt: from its row and what staff did. No queries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.models import Run
from chat.protocol.states import TERMINAL, Status

# What the statements that move runs say (chat/models/run.py); an error code stands for itself.
REASONS: Final = {
    "lease_expired": gettext_lazy("the lease of the worker before had run out"),
    "owner_dead": gettext_lazy("taken from a dead worker"),
    "handed_over": gettext_lazy("its worker was told to end"),
    "asked_for": gettext_lazy("re-queued by staff: its worker's lease had run out"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """after_s: since the run was made."""

    at: datetime
    after_s: float
    what: str
    attempt: int | None = None
    owner: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """until: None while it runs.  outcome: what ended it."""

    number: int
    owner: int | None
    since: datetime
    until: datetime | None = None
    outcome: str = ""
    why: str = ""

    @property
    def took_s(self) -> float | None:
        return round((self.until - self.since).total_seconds(), 3) if self.until else None


def story_of(run: Run, done_by_staff: Iterable[tuple[datetime, str, str]] = ()) -> list[Step]:
    """Oldest first. done_by_staff: when, who, what."""
    made: datetime = run.created_at

    def step(at: datetime, what: str, **said: Any) -> Step:
        return Step(at, round((at - made).total_seconds(), 3), what, **said)

    steps = [step(made, "made")]
    steps += [step(_at(entry), entry["to"], **_said(entry)) for entry in run.history]
    if run.announced_at:
        steps.append(step(run.announced_at, "announced", why=_("its last packet is in the log")))
    steps += [step(at, what, why=_("by %(who)s") % {"who": who}) for at, who, what in done_by_staff]
    return sorted(steps, key=lambda one: one.at)


def attempts_of(run: Run) -> list[AttemptRow]:
    """Those of workers, oldest first."""
    found: list[AttemptRow] = []
    for entry in run.history:
        at, to, said = _at(entry), entry["to"], _said(entry)
        if found and found[-1].until is None and to != Status.STOPPING:
            outcome = "lost" if to == Status.RUNNING else to
            found[-1] = replace(found[-1], until=at, outcome=outcome, why=said["why"])
        if to == Status.RUNNING:
            found.append(AttemptRow(said["attempt"], said["owner"], at))
    return found


def stretches_of(run: Run, now: datetime) -> Iterator[tuple[str, datetime, datetime]]:
    """(status, from, until), one after the other, to its end or until now."""
    since, status = run.created_at, Status.QUEUED.value
    for entry in run.history:
        at = _at(entry)
        yield status, since, at
        since, status = at, entry["to"]
    if status not in TERMINAL:
        yield status, since, now


def _at(entry: dict[str, Any]) -> datetime:
    at = parse_datetime(entry["at"])
    if at is None:
        raise ValueError(f"no time: {entry['at']!r}")
    return at


def _said(entry: dict[str, Any]) -> dict[str, Any]:
    why = entry.get("why", "")
    return {"attempt": entry.get("attempt"), "owner": entry.get("owner"), "why": str(REASONS.get(why, why))}
