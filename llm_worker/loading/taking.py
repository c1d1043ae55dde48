"""Taking a run: the claim and, in the same visit to the database, what a first attempt works on.

Between the two nothing is waited for, and a thread that begins its work costs more than either.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from chat.fault_points import reach
from chat.models import Run
from llm_worker.brief import Brief
from llm_worker.loading.prepare import prepare


class Taken(NamedTuple):
    """brief: None where the attempt has to ask for it: after an earlier one, or because it failed here."""

    run: Run
    brief: Brief | None


def take(run_id: Any, owner: int) -> Taken | None:
    """Claim the run; None: it is not ours to take."""
    run = Run.objects.claim(run_id, owner)
    if run is None:
        return None
    reach("after_claim")
    # Later attempts show first what the earlier ones have left.
    return Taken(run, _brief(run) if run.attempt == 1 else None)


def _brief(run: Run) -> Brief | None:
    # The run is ours by now: only its attempt can end it for what is wrong here.
    with suppress(Exception):
        return prepare(run)
    return None
