"""Keeps what an attempt has sent to its model, and tells how much of each request the server had seen before."""

import logging
from collections.abc import Sequence

from django.conf import settings

from chat import prefix_memory
from chat.models import Run, SentRequest
from llm_worker import prefix
from llm_worker.sent import Recorded

logger = logging.getLogger(__name__)


def save_sent_requests(run: Run, recorded: Sequence[Recorded]) -> None:
    """One statement for all of them. In a database thread, after the run's end: nobody waits for it, and nothing
    depends on it. Bears to be repeated."""
    is_kept = settings.KEEP_REQUESTS_HOURS > 0
    if not recorded or not (is_kept or logger.isEnabledFor(logging.INFO)):
        return
    session_id = run.turn.session_id
    known = prefix_memory.recall(session_id, run.model)
    rows = [one.row(known) for one in recorded]
    for row in rows:
        logger.info(
            "run %s cycle %s: %s tokens, prefix share %.3f", run.pk, row.cycle, row.tokens, row.prefix_share
        )
    if is_kept and not SentRequest.objects.keep(run.pk, run.attempt, rows):
        return  # deleted meanwhile, or a repetition
    own = [one for one in recorded if one.tool_call is None]
    if own:
        prefix_memory.remember(session_id, run.model, prefix.digests(own[-1].messages))
