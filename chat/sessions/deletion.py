"""Deleting a session: its runs are stopped first, its keys in Redis go with it."""

import logging
import time
from typing import Any, Final

from django.db import transaction
from redis.exceptions import RedisError

from chat.events import session_list
from chat.infrastructure import prefix_cache, revocation
from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, run_log
from chat.models import Run, Session
from chat.protocol.errors import ApiError
from chat.runs.cancellation import stop_run

logger = logging.getLogger(__name__)

# Long enough for workers that are alive to end their runs (they need milliseconds); the rest is fenced by the
# missing rows, and what they may still append expires by itself.
PATIENCE_S: Final = 1.0
POLL_S: Final = 0.02


def delete_session(session: Session) -> None:
    _stop_runs(session.pk)
    with transaction.atomic():
        # Locked first, so that a send that is being committed is either deleted too or finds no session.
        locked = Session.objects.select_for_update().filter(pk=session.pk).first()
        if locked is None:
            raise ApiError("session_not_found")
        runs = list(Run.objects.filter(turn__session=locked))
        locked.delete()
    _forget(session.pk, runs)
    session_list.tell_deleted(session)


def _stop_runs(session_id: Any) -> None:
    """Ask all runs to stop and give their workers a moment to say so to everybody who is watching."""
    live = Run.objects.live().filter(turn__session=session_id)
    for run_id in live.values_list("pk", flat=True):
        stop_run(run_id)
    limit = time.monotonic() + PATIENCE_S
    while live.exists() and time.monotonic() < limit:
        time.sleep(POLL_S)


def _forget(session_id: Any, runs: list[Run]) -> None:
    logs = [event_log(session_id), *(run_log(session_id, run.pk) for run in runs)]
    keys = [key for log in logs for key in (log.meta, log.entries)]
    keys.append(prefix_cache.key(session_id))
    # A worker that did not end its run in time still needs to be told: that key expires by itself.
    keys += [revocation.key(session_id, run.pk) for run in runs if not run.is_live]
    try:
        sync_redis().delete(*keys)
    except RedisError as error:
        logger.warning("session %s: its keys are left to expire: %s", session_id, error)
