"""Taking a run: the claim and, in the same round trip, what a first attempt works on.

A thread that begins its work, or waits for an answer, costs more than either.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from chat.infrastructure.fault_points import reach
from chat.models import Run
from chat.models.sql.model_configs import EDITED_PROMPT
from llm_worker.brief import Brief
from llm_worker.loading.branch import MESSAGES_OF_RUN
from llm_worker.loading.build_brief import PreloadedRows, build_brief


class ClaimedRun(NamedTuple):
    """brief: None where the attempt has to ask for it: after an earlier one, or because it failed here."""

    run: Run
    brief: Brief | None


def claim_run(run_id: Any, owner: int) -> ClaimedRun | None:
    """Claim the run; None: it is not ours to take."""
    run, read = Run.objects.claim_and_read(
        run_id, owner, MESSAGES_OF_RUN.query(run=run_id), EDITED_PROMPT.query()
    )
    if run is None:
        return None
    reach("after_claim")
    # Later attempts show first what the earlier ones have left.
    return ClaimedRun(run, _brief(run, PreloadedRows(*read)) if run.attempt == 1 else None)


def _brief(run: Run, read: PreloadedRows) -> Brief | None:
    # The run is ours by now: only its attempt can end it for what is wrong here.
    with suppress(Exception):
        return build_brief(run, read)
    return None
