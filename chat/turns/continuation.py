"""Continues an answer that was cut at the model's output limit, stopped or broken off: its run is queued again and adds to
the same message.

The next attempt opens the log with the text so far; from then on the run continues as after the loss of a worker.
"""

import logging
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from redis.exceptions import RedisError

from chat.events import session_events
from chat.infrastructure import log_context
from chat.infrastructure.after_commit import call_after_commit
from chat.log.rebuilt import present_stored
from chat.log.stream import append_now, run_log
from chat.models import Run, Session, TipSnapshot
from chat.models.run_fields import run_limits
from chat.models.usage import DailyUse
from chat.presenters.turns import present_continuation
from chat.prompts import dynamic_context, prompt_blocks
from chat.protocol.errors import ApiError
from chat.protocol.wire import Snapshot, encode
from chat.runs import admission, daily_limits, quotas, task_queue, turn_parts
from chat.turns import knowledge_bases
from chat.turns.current_branch import lock_session

logger = logging.getLogger(__name__)


class Continuation(NamedTuple):
    """A continued run, as it is now.  is_repeat: it was being continued already."""

    run: Run
    is_repeat: bool = False


def continue_answer(run: Run) -> Continuation:
    """Queue the run again. Raises ApiError; then nothing was changed.

    run: from for_work(). A run that is being continued already stays as it is: two tabs start one continuation.
    """
    task_queue.check_reachable()
    turn_parts.before_answer(run.turn.session)
    beside = run.turn.beside
    parent = run.turn.user_message.parent_id
    bases = knowledge_bases.load_bound_bases(run.turn.session, beside.knowledge_bases, parent)
    provided_context = dynamic_context.build(run.turn.session, bases)
    with transaction.atomic():
        session = lock_session(run.turn.session, run.message)
        now = _read(run.pk)
        if now.is_live and now.continuations:
            return Continuation(now, is_repeat=True)
        if not now.may_go_on:
            raise ApiError("not_continuable")
        if not run_limits().allow_more(now.spending, len(now.message.text)):
            raise ApiError("run_limit_reached")
        _admit(session, now.queue)
        context = prompt_blocks.run_context(session.agent, provided_context, beside)
        token = log_context.current_api_token()
        if not Run.objects.queue_again(run.pk, context, knowledge_bases.knowledge_of_run(bases), token):
            raise ApiError("not_continuable")
        continued = _read(run.pk)
        call_after_commit(_open_log, continued)
        session_events.record(session, "run_continued", present_continuation(continued))
        task_queue.enqueue_on_commit([continued])
    return Continuation(continued)


def _read(run_id: UUID) -> Run:
    return Run.objects.for_work().get(pk=run_id)


def _admit(session: Session, queue: str) -> None:
    """Check the limits, and count the continuation as one more run of today. Raises ApiError."""
    snapshot = TipSnapshot.read(session, None, None)
    if snapshot is None:
        raise ApiError("session_not_found")
    quotas.check_storage(session.owner_id, snapshot.stored_bytes)
    admission.check(snapshot.own_runs, snapshot.queued_runs, [queue])
    daily_limits.check(snapshot.account, 1)
    if not DailyUse.objects.count_run(session.pk, snapshot.account, log_context.current_api_token()):
        raise daily_limits.refusal(snapshot.account.runs)


def _open_log(run: Run) -> None:
    """Replace the log, which ends with `stop`, by the text so far: readers from its beginning then wait for more."""
    snapshot = Snapshot(str(run.pk), run.attempt, 0, present_stored(run))
    try:
        append_now(run_log(run.turn.session_id, run.pk), run.attempt, 0, [encode(snapshot)], base=0)
    except RedisError as error:
        # The next attempt replaces it as well.
        logger.warning("run %s: its log still ends with the first stop: %s", run.pk, error)
