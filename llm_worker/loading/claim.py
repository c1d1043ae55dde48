"""Claims a queued run, and then loads the input of its first attempt, in one visit to a database thread.

Waking a thread costs more than either query. The claim is committed before anything is read: whatever the branch
holds, no lock outlasts the claim's own statement (decision 0086).
"""

import logging
from typing import Final, NamedTuple
from uuid import UUID

from django.db import OperationalError

from chat.infrastructure.fault_points import reach
from chat.models import Run
from chat.models.sql.model_configs import STANDING_PROMPTS
from chat.models.sql.statements import LIMIT_STATEMENTS, together
from chat.protocol.tasks import DEFAULT_QUEUE
from llm_worker.loading.branch import MESSAGES_OF_RUN
from llm_worker.loading.build_brief import PreloadedRows, build_brief
from llm_worker.loop.brief import Brief
from llm_worker.upstream.deltas import ModelFailed

logger = logging.getLogger(__name__)

# The limit of each statement here. Nobody extends the lease of a run before its attempt exists.
READ_LIMIT_MS: Final = 1000
# The attempt builds the brief of a branch with more messages: the threads for loading may take their time.
MOST_MESSAGES: Final = 500


class Claim(NamedTuple):
    """A claimed run. rows: the rows that were read for its brief.

    brief: None if the attempt must build it: after an earlier attempt, for a long branch, or if that failed here.
    """

    run: Run
    brief: Brief | None
    rows: PreloadedRows | None = None


def claim_run(run_id: UUID | str, owner: int, queue: str = DEFAULT_QUEUE) -> Claim | None:
    """Claim the run, or another run that waits in the queue of the task message; None if none waits."""
    run = Run.objects.claim_fairly(run_id, queue, owner)
    if run is None:
        return None
    reach("after_claim")
    # Later attempts first show what earlier ones have saved.
    return _load(run) if run.attempt == 1 else Claim(run, None)


def _load(run: Run) -> Claim:
    # The run is claimed: an error raised here would leave it running without an attempt that can fail it.
    rows = None
    try:
        rows = _read(run)
        return Claim(run, build_brief(run, rows) if len(rows.messages) <= MOST_MESSAGES else None, rows)
    except ModelFailed:
        pass  # the attempt meets this error again and ends the run with it
    except OperationalError as error:
        logger.warning("run %s: its branch is not read yet: %s", run.pk, error)
    except Exception:
        logger.exception("run %s: building the brief failed; the attempt builds it again", run.pk)
    return Claim(run, None)


def _read(run: Run) -> PreloadedRows:
    _, messages, [prompts] = together(
        LIMIT_STATEMENTS.query(limit=f"{READ_LIMIT_MS}ms"),
        MESSAGES_OF_RUN.query(run=run.pk),
        STANDING_PROMPTS.query(owner=run.turn.session.owner_id),
    )
    return PreloadedRows(messages, prompts)
