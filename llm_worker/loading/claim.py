"""Claims a queued run and loads what its first attempt needs in the same round trip.

One visit to a database thread instead of two: waking a thread costs more than either query.
"""

import logging
from typing import NamedTuple
from uuid import UUID

from chat.infrastructure.fault_points import reach
from chat.models import Run
from chat.models.sql.model_configs import EDITED_PROMPT
from llm_worker.brief import Brief
from llm_worker.loading.branch import MESSAGES_OF_RUN
from llm_worker.loading.build_brief import PreloadedRows, build_brief
from llm_worker.upstream.deltas import ModelFailed

logger = logging.getLogger(__name__)


class Claim(NamedTuple):
    """brief: None if the attempt must build it: after an earlier attempt, or because building it failed here."""

    run: Run
    brief: Brief | None


def claim_run(run_id: UUID | str, owner: int) -> Claim | None:
    """Claim the run; None if it is not queued or another worker has claimed it."""
    run, rows = Run.objects.claim_and_read(
        run_id, owner, MESSAGES_OF_RUN.query(run=run_id), EDITED_PROMPT.query()
    )
    if run is None:
        return None
    reach("after_claim")
    # Later attempts first show what earlier ones have saved.
    return Claim(run, _brief(run, PreloadedRows(*rows)) if run.attempt == 1 else None)


def _brief(run: Run, rows: PreloadedRows) -> Brief | None:
    # The run is claimed: an error raised here would leave it running without an attempt that can fail it.
    try:
        return build_brief(run, rows)
    except ModelFailed:
        return None  # the attempt meets it again and ends the run with it
    except Exception:
        logger.exception("run %s: building the brief failed; the attempt builds it again", run.pk)
        return None
